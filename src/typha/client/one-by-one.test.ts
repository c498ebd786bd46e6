import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { OneByOne } from "./one-by-one.ts";

type Source = { batches: AsyncGenerator<readonly number[]>; left: () => number };

/** Hands out the batches, then throws if told to; counts how often it was left. */
function source(batches: readonly (readonly number[])[], error?: Error): Source {
  let left = 0;
  async function* generate(): AsyncGenerator<readonly number[]> {
    try {
      for (const batch of batches) {
        await Promise.resolve();
        yield batch;
      }
      if (error !== undefined) throw error;
    } finally {
      left += 1;
    }
  }
  return { batches: generate(), left: () => left };
}

const cases: { name: string; batches: number[][]; all: number[] }[] = [
  { name: "nothing", batches: [], all: [] },
  { name: "empty batches among others", batches: [[], [1], [], [], [2, 3], []], all: [1, 2, 3] },
  { name: "batches of several", batches: [[1, 2], [3], [4, 5, 6]], all: [1, 2, 3, 4, 5, 6] },
];
for (const { name, batches, all } of cases) {
  test(`one by one, in order: ${name}`, async () => {
    const from = source(batches);
    deepEqual(await Array.fromAsync(new OneByOne(from.batches)), all);
    equal(from.left(), 1);
  });

  test(`who asks again before the answer gets the same: ${name}`, async () => {
    const updates = new OneByOne(source(batches).batches);
    const asked = Array.from({ length: all.length + 2 }, () => updates.next());
    const answers = (await Promise.all(asked)).map(({ value }) => value);
    deepEqual(answers, [...all, undefined, undefined]);
  });
}

test("leaving the loop leaves the source, and there is nothing behind it", async () => {
  const from = source([[1, 2, 3], [4]]);
  const updates = new OneByOne(from.batches);
  for await (const update of updates) if (update === 2) break;
  equal(from.left(), 1);
  deepEqual(await updates.next(), { done: true, value: undefined });
});

test("leaving while an answer is awaited ends both", async () => {
  const from = source([[], [], [1], [2]]);
  const updates = new OneByOne(from.batches);
  await updates.next();
  const [, second] = await Promise.all([updates.return(), updates.next()]);
  deepEqual(second, { done: true, value: undefined });
  equal(from.left(), 1);
});

test("once aborted there is nothing more, whatever was here, and the source is left", async () => {
  const from = source([[1, 2, 3], [4]]);
  const stop = new AbortController();
  const updates = new OneByOne(from.batches, stop.signal);
  const seen: number[] = [];
  for await (const update of updates) {
    seen.push(update);
    if (update === 2) stop.abort();
  }
  deepEqual(seen, [1, 2]);
  equal(from.left(), 1);
});

test("aborted while an answer is awaited, there is none", async () => {
  const from = source([[0], [1], [2]]);
  const stop = new AbortController();
  const updates = new OneByOne(from.batches, stop.signal);
  await updates.next();
  const asked = [updates.next(), updates.next()];
  stop.abort();
  deepEqual(await Promise.all(asked), new Array(2).fill({ done: true, value: undefined }));
  equal(from.left(), 1);
});

test("an error of the source is told once, behind what came before it", async () => {
  const updates = new OneByOne(source([[1]], new Error("lost")).batches);
  equal((await updates.next()).value, 1);
  await rejects(updates.next(), /lost/);
  deepEqual(await updates.next(), { done: true, value: undefined });
});

test("an error thrown into it comes back, and the source is left", async () => {
  const from = source([[1, 2]]);
  const updates = new OneByOne(from.batches);
  await updates.next();
  await rejects(updates.throw(new Error("mine")), /mine/);
  equal(from.left(), 1);
});
