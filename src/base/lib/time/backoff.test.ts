import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { Backoff } from "./backoff.ts";

const waits = (backoff: Backoff, count: number, baseMs = 500) =>
  Array.from({ length: count }, () => backoff.nextDelayMs(baseMs));

test("waits double from the base up to the cap", () => {
  deepEqual(waits(new Backoff(() => 0), 7), [500, 1000, 2000, 4000, 5000, 5000, 5000]);
});

test("a success makes the next failure the first again", () => {
  const backoff = new Backoff(() => 0);
  waits(backoff, 4);
  backoff.reset();
  equal(backoff.nextDelayMs(500), 500);
});

test("randomness only ever makes a wait longer, by at most half", () => {
  equal(new Backoff(() => 0.999_999).nextDelayMs(1000) < 1500, true);
  equal(new Backoff(() => 0).nextDelayMs(1000), 1000);
});

test("what the server asks for is the least we wait, and is believed up to a limit", () => {
  equal(new Backoff(() => 0).nextDelayMs(500, 7000), 7000);
  equal(new Backoff(() => 0).nextDelayMs(500, 86_400_000), 300_000);
  equal(new Backoff(() => 0).nextDelayMs(500, -5), 500);
});

test("a month of failures still waits the cap", () => {
  const backoff = new Backoff(() => 0);
  for (let i = 0; i < 300_000; i++) backoff.nextDelayMs(500);
  equal(backoff.nextDelayMs(500), 5000);
});
