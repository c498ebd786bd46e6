import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../test/kit/fake-clock.ts";
import { noMetrics } from "../fanout/index.ts";
import { silentLog } from "../lib/index.ts";
import { ConnectionGovernor } from "./connection-governor.ts";

/** Clients of one thread, of whom some hang up themselves just when they are about to be asked to leave. */
function threadOf(count: number, leavesByItself: (drop: number) => boolean) {
  let clients = Array.from({ length: count }, (_, index) => ({ id: BigInt(index), node: `node-${index}` }));
  let drops = 0;
  return {
    get activeCount() {
      return clients.length;
    },
    reports: async () => clients,
    drop: async (ids: readonly bigint[]) => {
      drops += 1;
      clients = clients.filter(({ id }) => !ids.includes(id));
      return leavesByItself(drops) ? 0 : 1;
    },
  };
}

const cases: { name: string; count: number; leavesByItself: (drop: number) => boolean; seconds: number }[] = [
  { name: "one a second", count: 5, leavesByItself: () => false, seconds: 5 },
  { name: "one a second, also after one has left by itself", count: 5, leavesByItself: (n) => n === 2, seconds: 5 },
  { name: "the last one leaves by itself", count: 3, leavesByItself: (n) => n === 3, seconds: 3 },
  { name: "all leave by themselves", count: 3, leavesByItself: () => true, seconds: 3 },
  { name: "nobody is there", count: 0, leavesByItself: () => false, seconds: 0 },
];
for (const { name, count, leavesByItself, seconds } of cases) {
  test(`emptying the server: ${name}`, async () => {
    const clock = new FakeClock();
    const thread = threadOf(count, leavesByItself);
    const governor = new ConnectionGovernor(1000, {
      threads: [thread as never], // the governor asks for nothing else
      dropIntervalMs: 1000,
      shutdownTimeoutMs: 300_000,
      shutdownMaxIntervalMs: 1000,
      clock,
      random: () => 0.5,
      log: silentLog,
      metrics: noMetrics,
    });
    let isOver = false;
    const emptying = governor.empty(new AbortController().signal).then(() => (isOver = true));
    await clock.settle();
    const left: number[] = [];
    for (let second = 0; second < seconds; second++) {
      equal(isOver, false, `over after ${second} s, with ${thread.activeCount} clients`);
      await clock.advance(1000);
      left.push(thread.activeCount);
    }
    deepEqual(
      left,
      Array.from({ length: count }, (_, index) => count - 1 - index),
    );
    await emptying;
  });
}
