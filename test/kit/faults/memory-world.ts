// The datastore in memory under fault: any error at any step, ended watches, forgotten history, doubled and swapped
// events. Its followers see it through a wrapper that does these things; the truth is read past it.

import { systemClock } from "../../../src/base/lib/index.ts";
import {
  createMemoryDatastore,
  type Datastore,
  DatastoreError,
  type DatastoreErrorCode,
  type MemoryDatastore,
  type WatchEvent,
} from "../../../src/calico/datastore/index.ts";
import type { Kind } from "../../../src/calico/kinds/index.ts";
import { eventually } from "../eventually.ts";
import { contentOf, type Fault, type FaultWorld } from "./world.ts";

const kinds = ["Tier", "IPPool"] as const;

type Trouble = {
  /** Asked before every page, watch and event; its error is thrown. */
  fail: (() => DatastoreErrorCode | undefined) | undefined;
  /** The kinds whose follower has met an error. */
  readonly met: Set<Kind>;
  /** What becomes of events on their way. */
  events: "as they are" | "doubled" | "swapped";
};

export async function openMemoryWorld(): Promise<FaultWorld> {
  const memory = createMemoryDatastore({ pageSize: 5, mostChanges: 64, bookmarkIntervalMs: 50 });
  const trouble: Trouble = { fail: undefined, met: new Set(), events: "as they are" };
  return {
    name: "memory",
    kinds,
    faults: memoryFaults(memory, trouble),
    datastore: troubled(memory, trouble),
    async put(kind, name, serial) {
      await memory.put(kind, { metadata: { name }, spec: { serial } });
    },
    async remove(kind, name) {
      const id = { namespace: "", name };
      if ((await memory.get(kind, id)) !== undefined) await memory.delete(kind, id);
    },
    truth: (kind) => contentOf(memory, kind),
    [Symbol.asyncDispose]: () => memory[Symbol.asyncDispose](),
  };
}

function troubled(memory: MemoryDatastore, trouble: Trouble): Datastore {
  const check = (kind: Kind) => {
    const code = trouble.fail?.();
    if (code === undefined) return;
    trouble.met.add(kind);
    throw new DatastoreError(code, "made to fail");
  };
  return {
    flavour: memory.flavour,
    get: (kind, id) => memory.get(kind, id),
    create: (kind, value) => memory.create(kind, value),
    update: (kind, object) => memory.update(kind, object),
    updateStatus: (kind, object) => memory.updateStatus(kind, object),
    patch: (kind, id, patch) => memory.patch(kind, id, patch),
    delete: (kind, id) => memory.delete(kind, id),
    [Symbol.asyncDispose]: () => memory[Symbol.asyncDispose](),
    async *list(kind, options) {
      for await (const page of memory.list(kind, options)) {
        check(kind);
        yield page;
      }
      check(kind);
    },
    async *watch(kind, options) {
      check(kind);
      let held: readonly WatchEvent[] | undefined;
      for await (const events of memory.watch(kind, options)) {
        check(kind);
        if (trouble.events === "swapped" && held === undefined) {
          held = events;
          continue;
        }
        yield events;
        if (trouble.events === "doubled") yield events;
        if (held !== undefined) yield held;
        held = undefined;
      }
    },
  };
}

function memoryFaults(memory: MemoryDatastore, trouble: Trouble): Fault[] {
  const codes: readonly DatastoreErrorCode[] = [
    "unavailable",
    "expired",
    "rate-limited",
    "too-large-revision",
    "invalid",
  ];
  return [
    {
      name: "steps fail at random",
      async strike({ random, write }) {
        trouble.fail = () => (random.next() < 0.3 ? random.pick(codes) : undefined);
        memory.endWatches();
        for (let i = 0; i < 5; i++) {
          await write(random.below(10));
          await systemClock.sleep(random.below(20));
        }
        trouble.fail = undefined;
      },
    },
    {
      name: "watches end and history is gone",
      async strike({ random, write }) {
        await write(random.below(20));
        memory.endWatches();
        await write(random.below(20));
        memory.compact();
      },
    },
    {
      name: "more is written than history holds",
      strike: ({ write }) => write(200),
    },
    {
      name: "events come twice",
      async strike({ random, write }) {
        trouble.events = "doubled";
        await write(random.below(20));
        await systemClock.sleep(5);
        trouble.events = "as they are";
      },
    },
    {
      // Nothing in such a stream says that it is wrong; what puts it right is that it ends in "expired".
      name: "events come in the wrong order, and then history is gone",
      async strike({ random, write }) {
        trouble.events = "swapped";
        await write(random.below(20));
        await systemClock.sleep(5);
        trouble.events = "as they are";
        trouble.met.clear();
        trouble.fail = () => "expired";
        memory.endWatches();
        await eventually(() => trouble.met.size === kinds.length, "every follower is told");
        trouble.fail = undefined;
      },
    },
  ];
}
