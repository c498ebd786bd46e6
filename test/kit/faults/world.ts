// A datastore under fault: followers of it, a way to write behind their backs, a way to read the truth past the fault,
// and the faults it can suffer. The fault tables and the campaign both run on these.

import { silentLog, systemClock } from "../../../src/base/lib/index.ts";
import { type Datastore, type FollowLimits, follow } from "../../../src/calico/datastore/index.ts";
import type { Kind } from "../../../src/calico/kinds/index.ts";
import type { FaultProxy } from "../proxy.ts";
import type { Random } from "../random.ts";

/** namespace/name to the text of the object's spec, which no two writes share. */
export type Content = Map<string, string>;

export type Strike = {
  readonly random: Random;
  /** So many random writes and deletions, made where the fault cannot be felt. */
  write(count: number): Promise<void>;
};

export type Fault = {
  readonly name: string;
  /** How often compared with others; 1 when not said. Slow faults are rare ones. */
  readonly weight?: number;
  /** Breaks, and heals again. */
  strike(strike: Strike): Promise<void>;
};

export type FaultWorld = AsyncDisposable & {
  readonly name: string;
  readonly kinds: readonly Kind[];
  readonly faults: readonly Fault[];
  /** The datastore as its followers have it: behind the fault. */
  readonly datastore: Datastore;
  put(kind: Kind, name: string, serial: number): Promise<void>;
  remove(kind: Kind, name: string): Promise<void>;
  /** What the datastore holds, read past the fault. */
  truth(kind: Kind): Promise<Content>;
};

/** Times that a test can wait for. What they are in production is in src/calico/datastore/follow/follow-machine.ts. */
const quickLimits: Partial<FollowLimits> = { attemptIntervalMs: 10, listRetryMs: 20, silenceMs: 2_000 };

export type FollowedContent = AsyncDisposable & {
  readonly content: Content;
  /** Promises of the stream that were broken, in words. */
  readonly complaints: readonly string[];
};

/** What a follower's words add up to, with an eye on what it must never say. */
export function followContent(datastore: Datastore, kind: Kind): FollowedContent {
  const controller = new AbortController();
  const content: Content = new Map();
  const complaints: string[] = [];
  let status: number = 0;
  const options = { clock: systemClock, log: silentLog, random: Math.random, signal: controller.signal };
  const done = (async () => {
    for await (const events of follow(datastore, kind, { ...options, limits: quickLimits })) {
      for (const event of events) {
        if (event.is === "status") {
          if (event.status === status) complaints.push(`${kind}: status ${status} was said twice`);
          status = event.status;
          continue;
        }
        if (status === 0) complaints.push(`${kind}: ${event.is} while waiting for the datastore`);
        const { namespace, name } = event.is === "set" ? event.object.id : event.id;
        const key = `${namespace}/${name}`;
        if (event.is === "set") content.set(key, specText(event.object.value));
        else if (!content.delete(key)) complaints.push(`${kind}: deletion of ${key}, which was never announced`);
      }
    }
  })();
  return {
    content,
    complaints,
    async [Symbol.asyncDispose]() {
      controller.abort();
      await done;
    },
  };
}

export async function contentOf(datastore: Datastore, kind: Kind): Promise<Content> {
  const content: Content = new Map();
  for await (const { items } of datastore.list(kind, { signal: AbortSignal.timeout(60_000) })) {
    for (const { id, value } of items) content.set(`${id.namespace}/${id.name}`, specText(value));
  }
  return content;
}

export function specText(value: unknown): string {
  return JSON.stringify(Object(value).spec);
}

/** The faults of a network, for any world behind a proxy. */
export function networkFaults(proxy: FaultProxy): Fault[] {
  const pause = (random: Random) => systemClock.sleep(random.below(100));
  return [
    {
      name: "connections are cut while it is written to",
      async strike({ random, write }) {
        const writing = write(random.below(20));
        await pause(random);
        proxy.cut();
        await writing;
      },
    },
    {
      name: "nothing passes for a while",
      async strike({ random, write }) {
        proxy.freeze();
        await write(random.below(20));
        await pause(random);
        proxy.thaw();
      },
    },
    {
      name: "a connection dies without a word",
      async strike({ random, write }) {
        proxy.halfOpen();
        await write(random.below(20));
      },
    },
    {
      name: "an answer is torn off in the middle",
      async strike({ random, write }) {
        proxy.truncate(1 + random.below(3_000));
        await write(5 + random.below(20));
        proxy.cut();
      },
    },
    {
      name: "every chunk is late",
      async strike({ random, write }) {
        proxy.delay(1 + random.below(60));
        await write(random.below(20));
        proxy.delay(0);
      },
    },
    {
      name: "nobody is let in for a while",
      async strike({ random, write }) {
        proxy.refuse();
        await write(random.below(20));
        await pause(random);
        proxy.accept();
      },
    },
    {
      name: "connections are cut again and again while lists are under way",
      async strike({ random, write }) {
        const writing = write(10);
        for (let i = 0; i < 4; i++) {
          proxy.cut();
          await pause(random);
        }
        await writing;
      },
    },
  ];
}
