// Turns: who is written to when, and what they are sent, where writing to everybody takes longer than it may.
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { syncStatus } from "../../../calico/model/basics.ts";
import type { Position, Variant } from "../../cache/index.ts";
import { noMetrics } from "../counting/metrics.ts";
import { Broadcast, type Receiver } from "./broadcast.ts";
import type { Flush } from "./flush.ts";
import { Pace } from "./pace.ts";

const variant: Variant = "modern/none";

/** A clock on which writing to a client takes time. */
class WritingClock extends FakeClock {
  #writtenMs = 0;

  override monotonicMs(): number {
    return super.monotonicMs() + this.#writtenMs;
  }

  write(ms: number): void {
    this.#writtenMs += ms;
  }
}

function broadcastTo(clients: number, writeMs: number) {
  const clock = new WritingClock();
  const source = {
    snapshot: async () => undefined,
    release: () => undefined,
    changes: async () => undefined,
  };
  const broadcast = new Broadcast("felix", source, { tally: noMetrics, clock, pace: new Pace() });
  const writes: { client: number; text: string; atMs: number }[] = [];
  const decoder = new TextDecoder();
  const positions: Position[] = Array.from({ length: clients }, () => 0);
  for (const client of positions.keys()) {
    const receiver: Receiver = {
      get position() {
        return positions[client] ?? 0;
      },
      takeTurn: () => {
        const run = broadcast.recent.after(positions[client] ?? 0, variant);
        if (run === undefined) return undefined;
        clock.write(writeMs);
        positions[client] = run.to;
        const text = run.parts.map((part) => decoder.decode(part)).join("");
        writes.push({ client, text, atMs: clock.monotonicMs() });
        return run;
      },
    };
    broadcast.join(receiver, variant);
  }
  const take = (number: number): void => broadcast.take(flush(number, clock.monotonicMs()));
  return { clock, broadcast, writes, positions, take };
}

function flush(sequence: number, atMs: number): Flush {
  const bytes = new Map([[variant, new TextEncoder().encode(`${sequence};`)]]);
  return {
    sequence,
    from: sequence - 1,
    to: sequence,
    updates: 1,
    messages: [1],
    status: syncStatus.inSync,
    atMs,
    bytes,
  };
}

test("few clients are written to at once", async () => {
  const { writes, take } = broadcastTo(100, 0.01);
  take(1);
  deepEqual(
    writes.map(({ client, text }) => `${client} ${text}`),
    Array.from({ length: 100 }, (_, client) => `${client} 1;`),
  );
});

test("many take turns, and whoever's turn comes later is sent what was published meanwhile in one write", async () => {
  const { clock, writes, positions, take } = broadcastTo(1000, 0.01);
  take(1);
  const served = writes.length;
  ok(served > 100 && served < 1000, `${served}`);
  await clock.advance(1);
  take(2);
  await clock.advance(1000);
  ok(positions.every((position) => position === 2));
  equal(writes.length, 1000 + served, "only those who had the first flush by itself are written to twice");
  deepEqual(new Set(writes.map(({ text }) => text)), new Set(["1;", "1;2;", "2;"]));
});

test("a stream is written in even pieces, and every client has each change soon", async () => {
  const { clock, writes, broadcast, take } = broadcastTo(500, 0.01);
  const published: number[] = [];
  for (let number = 1; number <= 400; number += 1) {
    published[number] = clock.monotonicMs();
    take(number);
    await clock.advance(5);
  }
  const share = (writes.length * 0.01) / clock.monotonicMs();
  await clock.advance(1000);
  const last = writes.filter(({ text }) => text.includes("400;"));
  equal(last.length, 500);
  ok(Math.abs(broadcast.costMs - 5) < 1, `${broadcast.costMs} ms for a round of 5 ms`);
  const lateness = writes.map(({ text, atMs }) => atMs - (published[Number.parseInt(text, 10)] ?? Number.NaN));
  ok(Math.max(...lateness) < 25, `${Math.max(...lateness)} ms`);
  ok(share < 0.31, `${share} of the time went into writing`);
});

test("a client that leaves while its turn is awaited is passed over, one that joins has its turn", async () => {
  const { clock, broadcast, writes, take } = broadcastTo(1000, 0.01);
  const turns: string[] = [];
  const guest = (name: string): Receiver => ({
    position: 0,
    takeTurn: () => {
      turns.push(name);
      return undefined;
    },
  });
  const leaving = guest("leaving");
  broadcast.join(leaving, variant);
  take(1);
  broadcast.leave(leaving);
  broadcast.join(guest("joining"), variant);
  await clock.advance(1000);
  equal(writes.length, 1000);
  deepEqual(turns, ["joining"]);
});

test("runs that are long are not joined: they stay references to the bytes that all share", () => {
  const { broadcast } = broadcastTo(0, 0);
  const bytes = new Uint8Array(10_000);
  for (const number of [1, 2, 3]) broadcast.take({ ...flush(number, 0), bytes: new Map([[variant, bytes]]) });
  const parts = broadcast.recent.after(0, variant)?.parts ?? [];
  equal(parts.length, 3);
  ok(parts.every((part) => part === bytes));
  equal(broadcast.recent.after(2, variant)?.parts[0], bytes);
});

test("a flush that was not made for a variant ends what its clients are sent before it", () => {
  const { broadcast, take } = broadcastTo(0, 0);
  take(1);
  take(2);
  broadcast.take({ ...flush(3, 0), bytes: new Map() });
  take(4);
  equal(broadcast.recent.after(0, variant)?.to, 2);
  equal(broadcast.recent.after(2, variant), undefined);
  equal(broadcast.recent.after(3, variant)?.to, 4);
});
