import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { Pace } from "./pace.ts";

const options = { restMs: 50, freePerSecond: 10 };

/** How long the reader rested after each word, of words that come in equal steps. */
async function rests(words: number, everyMs: number): Promise<number[]> {
  const clock = new FakeClock();
  const pace = new Pace({ ...options, clock });
  const found: number[] = [];
  for (let at = 0; at < words; at += 1) {
    await clock.advance(everyMs);
    const beginMs = clock.monotonicMs();
    let endMs: number | undefined;
    const resting = pace.rest(new AbortController().signal).then(() => {
      endMs = clock.monotonicMs();
    });
    await clock.settle();
    if (endMs === undefined) await clock.advance(options.restMs);
    await resting;
    found.push((endMs ?? Number.NaN) - beginMs);
  }
  return found;
}

test("a few in a row, and single words with pauses between them, are never waited for", async () => {
  for (const found of [await rests(8, 1), await rests(30, 200)])
    equal(
      found.every((ms) => ms === 0),
      true,
    );
});

test("where much comes the reader rests each time, as long as much comes, and no longer after a pause", async () => {
  const found = await rests(200, 10);
  ok(found.slice(0, 5).every((ms) => ms === 0));
  ok(found.slice(-150).every((ms) => ms === options.restMs));
});

test("a rest ends with the signal, without an error", async () => {
  const clock = new FakeClock();
  const pace = new Pace({ ...options, clock });
  const never = new AbortController().signal;
  for (let at = 0; at < 300; at += 1) {
    await clock.advance(5);
    const resting = pace.rest(never);
    await clock.advance(options.restMs);
    await resting;
  }
  const stop = new AbortController();
  let isOver = false;
  const resting = pace.rest(stop.signal).then(() => {
    isOver = true;
  });
  await clock.settle();
  equal(isOver, false);
  stop.abort();
  await resting;
  equal(isOver, true);
});
