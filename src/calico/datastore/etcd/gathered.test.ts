import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
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

test("few are handed on at once, and what came while nobody asked, together", async () => {
  const source = new FakeSource();
  const bunches = gathered<number>(source, new FakeClock());
  const first = bunches.next();
  source.push(1);
  deepEqual((await first).value, [1]);
  for (const item of [2, 3]) source.push(item);
  deepEqual((await bunches.next()).value, [2, 3]);
  const next = bunches.next();
  source.push(4);
  deepEqual((await next).value, [4]);
});

test("while much comes, in bursts or not, it gathers for longer, and after a pause no more", async () => {
  const clock = new FakeClock();
  const source = new FakeSource();
  const bunches = gathered<number>(source, clock);
  const sizes: number[] = [];
  const reading = (async () => {
    for await (const bunch of bunches) sizes.push(bunch.length);
  })();
  await clock.advance(0);
  const burst = async () => {
    for (let ms = 0; ms < 20; ms += 1) {
      for (let item = 0; item < 5; item += 1) source.push(item);
      await clock.advance(1);
    }
    await clock.advance(30);
  };
  for (let bursts = 0; bursts < 10; bursts += 1) await burst();
  sizes.length = 0;
  await burst();
  deepEqual([sizes.length <= 6, sizes.reduce((sum, size) => sum + size, 0)], [true, 100], sizes.join());
  await clock.advance(2000);
  sizes.length = 0;
  for (const item of [1, 2, 3]) {
    source.push(item);
    await clock.advance(1);
  }
  deepEqual(sizes, [1, 1, 1]);
  source.end();
  await clock.advance(10);
  await reading;
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
