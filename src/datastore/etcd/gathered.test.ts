import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/kit/fake-clock.ts";
import { gathered, type Source } from "./gathered.ts";

class FakeSource implements Source<number> {
  isPaused = false;
  push: (item: number) => void = () => undefined;
  end: (error?: unknown) => void = () => undefined;

  listen(to: { item: (item: number) => void; end: (error: unknown) => void }): void {
    this.push = to.item;
    this.end = to.end;
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }
}

test("the first word is handed on at once, what follows close behind gathers", async () => {
  const clock = new FakeClock();
  const source = new FakeSource();
  const bunches = gathered<number>(source, clock);
  const first = bunches.next();
  source.push(1);
  deepEqual((await first).value, [1]);
  const next = bunches.next();
  const few = [2, 3, 4, 5, 6, 7, 8, 9];
  for (const item of few) source.push(item);
  await clock.advance(1);
  deepEqual((await next).value, few);
  const many = bunches.next();
  source.push(10);
  await clock.advance(2); // much has just come
  source.push(11);
  await clock.advance(3);
  deepEqual((await many).value, [10, 11]);
  await clock.advance(10);
  const later = bunches.next();
  source.push(5);
  deepEqual((await later).value, [5]);
});

test("what came before an error is handed on before it", async () => {
  const source = new FakeSource();
  const bunches = gathered<number>(source, new FakeClock());
  const first = bunches.next();
  source.push(1);
  deepEqual((await first).value, [1]);
  source.push(2);
  source.end(new Error("broken"));
  deepEqual((await bunches.next()).value, [2]);
  await rejects(bunches.next(), /broken/);
});

test("a source that ends ends the bunches", async () => {
  const source = new FakeSource();
  const bunches = gathered<number>(source, new FakeClock());
  const first = bunches.next();
  source.push(1);
  source.end();
  deepEqual((await first).value, [1]);
  equal((await bunches.next()).done, true);
});

test("a reader that does not take them pauses the source, until it does", async () => {
  const clock = new FakeClock();
  const source = new FakeSource();
  const bunches = gathered<number>(source, clock);
  const first = bunches.next();
  source.push(0);
  await first;
  for (let item = 1; item < 1000; item += 1) source.push(item);
  equal(source.isPaused, false);
  source.push(1000);
  equal(source.isPaused, true);
  const second = bunches.next();
  await clock.advance(10);
  equal((await second).value?.length, 1000);
  const third = bunches.next();
  await clock.advance(10);
  equal(source.isPaused, false);
  source.push(1001);
  await clock.advance(10);
  deepEqual((await third).value, [1001]);
});
