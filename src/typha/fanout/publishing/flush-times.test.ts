import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { FlushTimes } from "./flush-times.ts";

test("the first flush beyond a position is known to the millisecond while it is one of the last", () => {
  const times = new FlushTimes();
  equal(times.firstBeyondMs(0), undefined);
  for (const [to, atMs] of [
    [10, 5],
    [20, 7],
    [20, 9],
    [30, 5000],
  ] as const) {
    times.note(to, atMs);
  }
  deepEqual(
    [0, 9, 10, 19, 20, 29, 30, 99].map((position) => times.firstBeyondMs(position)),
    [5, 5, 7, 7, 5000, 5000, undefined, undefined],
  );
});

test("and later within a second, also where nothing was published for a while", () => {
  const times = new FlushTimes();
  const published: number[] = [];
  for (let atMs = 0; published.length < 20_000; atMs += published.length % 100 === 0 ? 50_000 : 7) {
    published.push(atMs);
    times.note(published.length, atMs);
  }
  for (let position = 0; position < published.length; position += 1) {
    const truth = published[position] ?? Number.NaN; // the flush that leads to position + 1
    const said = times.firstBeyondMs(position) ?? Number.NaN;
    ok(said <= truth && truth - said < 1000, `${position}: ${said} for ${truth}`);
  }
});

test("whoever is beyond what is remembered counts as that far behind", () => {
  const times = new FlushTimes();
  for (let second = 1; second <= 5000; second += 1) times.note(second, second * 1000);
  equal(times.firstBeyondMs(0), (5000 - 64 - 1024 + 1) * 1000);
});
