import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { RecentRate } from "./recent-rate.ts";

function isAbout(actual: number, wanted: number): void {
  ok(Math.abs(actual - wanted) < wanted / 10, `${actual} is not about ${wanted}`);
}

test("before anything was noted nothing comes", () => {
  const rate = new RecentRate(100);
  equal(rate.perMs, 0);
  equal(rate.lastMs, Number.NEGATIVE_INFINITY);
});

test("the first word after any time is not taken for a rate", () => {
  const rate = new RecentRate(100);
  rate.note(1000, 5);
  equal(rate.perMs, 0);
});

for (const everyMs of [0.2, 1, 10, 500]) {
  test(`a steady stream has its own rate, noted every ${everyMs} ms`, () => {
    const rate = new RecentRate(100);
    for (let nowMs = 0; nowMs < 2000; nowMs += everyMs) rate.note(3 * everyMs, nowMs);
    // Of less than a millisecond nothing is concluded: the clock may not be that fine.
    isAbout(rate.perMs, everyMs < 1 ? 3 * everyMs : 3);
  });
}

test("bursts with gaps between them come out as the stream they are", () => {
  const rate = new RecentRate(100);
  for (let burst = 0; burst < 40; burst += 1) {
    rate.note(80, burst * 50);
    rate.note(20, burst * 50 + 20);
  }
  ok(rate.perMs > 1 && rate.perMs < 3, String(rate.perMs));
});

test("one burst is forgotten as time goes by", () => {
  const rate = new RecentRate(100);
  rate.note(0, 0);
  rate.note(1000, 20);
  const after = rate.perMs;
  rate.note(0, 120);
  isAbout(rate.perMs, after / Math.E);
  rate.note(1, 2000);
  ok(rate.perMs < 0.001);
  equal(rate.lastMs, 2000);
});
