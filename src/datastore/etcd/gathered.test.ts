import { deepEqual, equal, rejects } from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { FakeClock } from "../../../test/kit/fake-clock.ts";
import { gathered } from "./gathered.ts";

function newStream(): Readable {
  return new Readable({ objectMode: true, read: () => undefined });
}

test("the first word is handed on at once, what follows close behind gathers", async () => {
  const clock = new FakeClock();
  const stream = newStream();
  const bunches = gathered<number>(stream, clock);
  stream.push(1);
  deepEqual((await bunches.next()).value, [1]);
  const next = bunches.next();
  for (const item of [2, 3, 4]) {
    stream.push(item);
    await clock.advance(1);
  }
  await clock.advance(10);
  deepEqual((await next).value, [2, 3, 4]);
  await clock.advance(10);
  stream.push(5);
  deepEqual((await bunches.next()).value, [5]);
});

test("what came before an error is handed on before it", async () => {
  const stream = newStream();
  const bunches = gathered<number>(stream, new FakeClock());
  stream.push(1);
  const first = bunches.next();
  await turn();
  stream.push(2);
  await turn();
  stream.emit("error", new Error("broken"));
  deepEqual((await first).value, [1]);
  deepEqual((await bunches.next()).value, [2]);
  await rejects(bunches.next(), /broken/);
});

test("a stream that ends ends the bunches", async () => {
  const stream = newStream();
  const bunches = gathered<number>(stream, new FakeClock());
  stream.push(1);
  stream.push(null);
  deepEqual((await bunches.next()).value, [1]);
  equal((await bunches.next()).done, true);
});

test("a reader that does not take them pauses the stream", async () => {
  const stream = newStream();
  const bunches = gathered<number>(stream, new FakeClock());
  stream.push(0);
  await bunches.next();
  for (let item = 1; item <= 1500; item += 1) stream.push(item);
  await turn();
  equal(stream.isPaused(), true);
  equal(stream.readableLength, 500);
});
