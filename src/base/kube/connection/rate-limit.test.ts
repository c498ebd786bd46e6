import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { RateLimit } from "./rate-limit.ts";

test("a burst goes at once, the rest at the rate, in the order they came", async () => {
  const clock = new FakeClock();
  const limit = new RateLimit(clock, { perSecond: 2, burst: 3 });
  const done: string[] = [];
  for (let i = 0; i < 6; i++) void limit.take().then(() => done.push(`${i}@${clock.monotonicMs()}`));
  await clock.advance(2000);
  deepEqual(done, ["0@0", "1@0", "2@0", "3@500", "4@1000", "5@1500"]);
});

test("a rate below zero is no limit", async () => {
  const clock = new FakeClock();
  const limit = new RateLimit(clock, { perSecond: -1, burst: 1 });
  let taken = 0;
  for (let i = 0; i < 1000; i++) void limit.take().then(() => taken++);
  await clock.settle();
  equal(taken, 1000);
});

test("who gives up waiting gives the turn back", async () => {
  const clock = new FakeClock();
  const limit = new RateLimit(clock, { perSecond: 1, burst: 1 });
  await limit.take();
  const controller = new AbortController();
  const waiting = limit.take(controller.signal);
  controller.abort(new Error("gone"));
  await rejects(waiting, /gone/);
  let isDone = false;
  void limit.take().then(() => {
    isDone = true;
  });
  await clock.advance(1000);
  equal(isDone, true);
});
