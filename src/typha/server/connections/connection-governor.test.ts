import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { silentLog } from "../../../base/lib/index.ts";
import { noMetrics } from "../../fanout/index.ts";
import { ConnectionGovernor } from "./connection-governor.ts";

type Manners = {
  /** Whether that client hangs up itself just when it is about to be asked to leave. */
  leavesByItself?: (drop: number) => boolean;
  /** Whether the thread, asked who is there, does not answer. */
  isSilent?: (question: number) => boolean;
};

function threadOf(count: number, { leavesByItself = () => false, isSilent = () => false }: Manners) {
  let clients = Array.from({ length: count }, (_, index) => ({ id: BigInt(index), node: `node-${index}` }));
  let drops = 0;
  let questions = 0;
  return {
    get activeCount() {
      return clients.length;
    },
    reports: async () => {
      questions += 1;
      return isSilent(questions) ? [] : clients;
    },
    drop: async (ids: readonly bigint[]) => {
      drops += 1;
      clients = clients.filter(({ id }) => !ids.includes(id));
      return leavesByItself(drops) ? 0 : 1;
    },
  };
}

function governorOf(thread: ReturnType<typeof threadOf>, clock: FakeClock, shutdownTimeoutMs: number) {
  return new ConnectionGovernor(1000, {
    threads: [thread as never], // the governor asks for nothing else
    dropIntervalMs: 1000,
    shutdownTimeoutMs,
    shutdownMaxIntervalMs: 1000,
    clock,
    random: () => 0.5,
    log: silentLog,
    metrics: noMetrics,
  });
}

const cases: ({ name: string; count: number; seconds: number } & Manners)[] = [
  { name: "one a second", count: 5, seconds: 5 },
  { name: "one a second, also after one has left by itself", count: 5, leavesByItself: (n) => n === 2, seconds: 5 },
  { name: "the last one leaves by itself", count: 3, leavesByItself: (n) => n === 3, seconds: 3 },
  { name: "all leave by themselves", count: 3, leavesByItself: () => true, seconds: 3 },
  { name: "nobody is there", count: 0, seconds: 0 },
  { name: "a thread that does not answer at first is asked again", count: 3, isSilent: (n) => n === 1, seconds: 3 },
];
for (const { name, count, seconds, ...manners } of cases) {
  test(`emptying the server: ${name}`, async () => {
    const clock = new FakeClock();
    const thread = threadOf(count, manners);
    const governor = governorOf(thread, clock, 300_000);
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

test("emptying the server: a thread that never answers is waited for until the shutdown time is over", async () => {
  const clock = new FakeClock();
  const thread = threadOf(3, { isSilent: () => true });
  const governor = governorOf(thread, clock, 10_000);
  let isOver = false;
  const emptying = governor.empty(new AbortController().signal).then(() => (isOver = true));
  await clock.advance(9_000);
  equal(isOver, false);
  await clock.advance(2_000);
  equal(isOver, true);
  await emptying;
});
