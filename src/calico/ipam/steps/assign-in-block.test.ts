// Addresses in one block when writes fail or come late: what is answered, and what the handle counts in the end.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { IpamStore } from "../../../../test/kit/ipam-store.ts";
import { parseRange, rangeText } from "../../../base/lib/index.ts";
import type { Block } from "../block.ts";
import { assign, forWrite, newBlock } from "../block-changes.ts";
import { newHandle, raised } from "../handle.ts";
import { assignInBlock, type InBlock } from "./assign-in-block.ts";
import { releaseHandle } from "./release-by-handle.ts";
import { type Answer, getBlock, type Step, StepFailed } from "./step.ts";

const cidr = "10.9.0.0/30";
const range = parseRange(cidr) ?? { family: 4 as const, first: 0n, prefixLength: 0 };
const start = newBlock({ range, owner: "host:n1", nowNs: 1_700_000_000_000_000_000n });

function taken(block: Block, handle: string, count: number) {
  const holder = { attribute: { handle_id: handle }, owner: "host:n1", strictAffinity: false };
  return assign(block, { ...holder, count, reservations: [] });
}

function takenBy(block: Block, handle: string, count: number): Block {
  const done = taken(block, handle, count);
  return done.is === "assigned" ? forWrite(done.block) : block;
}

const want = (count: number): InBlock => ({
  handle: "h",
  attribute: { handle_id: "h" },
  cooldownSeconds: 0,
  choose: (block) => taken(block, "h", count),
});

/** Answers instead of the nth write of the block; "late" writes it and says that it failed. */
type Trouble = "refused" | "lost" | "late" | ((store: IpamStore) => void);
const cases: {
  name: string;
  count: number;
  troubles: Trouble[];
  gets: string[] | string;
  counts: number;
  writes: number;
}[] = [
  { name: "nothing goes wrong", count: 1, troubles: [], gets: ["10.9.0.0/32"], counts: 1, writes: 1 },
  {
    name: "one refused write is tried again in the same block",
    count: 1,
    troubles: ["refused"],
    gets: ["10.9.0.0/32"],
    counts: 1,
    writes: 2,
  },
  {
    name: "refused for good: the handle is lowered and gone",
    count: 1,
    troubles: ["refused", "refused", "refused"],
    gets: "failed",
    counts: 0,
    writes: 3,
  },
  {
    name: "a write that happened although it seemed to fail is known again",
    count: 1,
    troubles: ["late"],
    gets: ["10.9.0.0/32"],
    counts: 1,
    writes: 2,
  },
  {
    name: "a write that got lost is tried again",
    count: 2,
    troubles: ["lost"],
    gets: ["10.9.0.0/32", "10.9.0.1/32"],
    counts: 2,
    writes: 2,
  },
  {
    name: "nobody knows: the handle counts rather too much",
    count: 1,
    troubles: ["lost", "lost", "lost"],
    gets: "failed",
    counts: 1,
    writes: 3,
  },
  {
    name: "somebody takes the address first: the next one, and the handle is not raised twice",
    count: 1,
    troubles: [(store) => store.put({ kind: "block", value: takenBy(start, "other", 1) })],
    gets: ["10.9.0.1/32"],
    counts: 1,
    writes: 2,
  },
  {
    name: "somebody leaves fewer than wanted: the handle counts what was got",
    count: 3,
    troubles: [(store) => store.put({ kind: "block", value: takenBy(start, "other", 2) })],
    gets: ["10.9.0.2/32", "10.9.0.3/32"],
    counts: 2,
    writes: 2,
  },
  {
    name: "somebody takes all: nothing, and no handle",
    count: 1,
    troubles: [(store) => store.put({ kind: "block", value: takenBy(start, "other", 4) })],
    gets: [],
    counts: 0,
    writes: 1,
  },
  {
    name: "the block goes: nothing, and no handle",
    count: 1,
    troubles: [(store) => store.entries.delete(`block ${cidr}`)],
    gets: "no-block",
    counts: 0,
    writes: 1,
  },
];

for (const { name, count, troubles, gets, counts, writes } of cases) {
  test(`assigning: ${name}`, () => {
    const store = new IpamStore();
    store.put({ kind: "block", value: start });
    let nth = 0;
    const interfere = (step: Step): Answer | undefined => {
      if (step.do !== "update" || step.object.kind !== "block") return undefined;
      const trouble = troubles[nth];
      nth += 1;
      if (trouble === undefined) return undefined;
      if (typeof trouble === "function") {
        trouble(store);
        return undefined;
      }
      if (trouble === "late") store.answer(step);
      return { is: "failed", error: new Error(trouble), wasWritten: trouble === "refused" ? "no" : "perhaps" };
    };
    equal(typeof gets === "string" ? gets : gets.join(), outcome(store, count, interfere));
    equal(nth, writes);
    equal(countOf(store), counts);
  });
}

function outcome(store: IpamStore, count: number, interfere: (step: Step) => Answer | undefined): string {
  const block = store.run(getBlock(cidr));
  if (block === undefined) return "absent";
  try {
    const done = store.run(assignInBlock(block, want(count)), interfere);
    return done.is === "assigned" ? done.addresses.map(rangeText).join() : done.is;
  } catch (error) {
    if (error instanceof StepFailed) return "failed";
    throw error;
  }
}

function countOf(store: IpamStore): number {
  const counts = store
    .objects()
    .flatMap((object) => (object.kind === "handle" ? [...object.value.blocks.values()] : []));
  return counts.reduce((sum, count) => sum + count, 0);
}

test("a handle that exists is raised further", () => {
  const store = new IpamStore();
  store.put({ kind: "block", value: start });
  store.put({ kind: "handle", value: raised(newHandle("h"), "10.8.0.0/30", 1) });
  outcome(store, 2, () => undefined);
  const [handle] = store.objects().flatMap((object) => (object.kind === "handle" ? [[...object.value.blocks]] : []));
  deepEqual(handle, [
    ["10.8.0.0/30", 1],
    [cidr, 2],
  ]);
});

test("a handle whose block is gone goes, too", () => {
  const store = new IpamStore();
  store.put({ kind: "handle", value: raised(newHandle("h"), cidr, 2) });
  deepEqual(store.run(releaseHandle({ id: "h", cooldownSeconds: 0 })), { released: [], blocks: [] });
  deepEqual(store.objects(), []);
});

test("a release that meets another write is done again on what is there", () => {
  const store = new IpamStore();
  const held = takenBy(start, "h", 1);
  store.put({ kind: "block", value: held });
  store.put({ kind: "handle", value: raised(newHandle("h"), cidr, 1) });
  let isOver = false;
  const done = store.run(releaseHandle({ id: "h", cooldownSeconds: 0 }), (step) => {
    if (step.do === "update" && !isOver) {
      isOver = true;
      store.put({ kind: "block", value: takenBy(held, "other", 1) });
    }
    return undefined;
  });
  deepEqual(done.released.map(rangeText), ["10.9.0.0/32"]);
  deepEqual(
    done.blocks.map(({ unallocated }) => unallocated),
    [[2, 3, 0]],
  );
  equal(countOf(store), 0);
});
