import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { Pace } from "./pace.ts";

/** Writes whenever it may, as long as there is something to write; what part of the time that was, and its longest pause. */
function busyFor(totalMs: number, roundMs: number): { share: number; longestPauseMs: number } {
  const pace = new Pace();
  let nowMs = 1000;
  let writtenMs = 0;
  let longestPauseMs = 0;
  pace.allowanceMs(nowMs, roundMs);
  while (nowMs < 1000 + totalMs) {
    const ms = pace.allowanceMs(nowMs, roundMs);
    pace.spend(ms);
    writtenMs += ms;
    nowMs += ms;
    const pauseMs = pace.pauseMs(roundMs);
    longestPauseMs = Math.max(longestPauseMs, pauseMs);
    nowMs += pauseMs;
  }
  return { share: writtenMs / totalMs, longestPauseMs };
}

test("a thread that has rested writes for as long as a round takes", () => {
  const pace = new Pace();
  equal(pace.allowanceMs(1000, 0), 5);
  equal(pace.allowanceMs(9000, 40), 40);
});

test("one that is busy writes for three tenths of its time, in short pieces", () => {
  const { share, longestPauseMs } = busyFor(10_000, 6);
  ok(Math.abs(share - 0.3) < 0.01, `${share}`);
  ok(longestPauseMs < 4, `${longestPauseMs}`);
});

test("where a round takes long, more of it: the pauses of a round are never longer than 100 ms together", () => {
  const { share } = busyFor(100_000, 400);
  ok(Math.abs(share - 0.8) < 0.01, `${share}`);
});

test("a thread that was not let run for long does not pay for it with a long pause", () => {
  const pace = new Pace();
  pace.spend(500);
  ok(pace.pauseMs(6) < 10, `${pace.pauseMs(6)}`);
});
