import { equal } from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "./clock.ts";
import { deadline } from "./deadline.ts";

const never = {
  ...systemClock,
  sleep: (_ms: number, signal?: AbortSignal) =>
    new Promise<void>((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
};
const atOnce = { ...systemClock, sleep: async () => undefined };

test("a deadline aborts when the outer signal does", () => {
  const outer = new AbortController();
  using limit = deadline(outer.signal, 1000, never);
  outer.abort(new Error("stopped"));
  equal(limit.signal.reason.message, "stopped");
  equal(limit.isOver, false);
});

test("a deadline aborts when time is up, and says so", async () => {
  using limit = deadline(new AbortController().signal, 1000, atOnce);
  await Promise.resolve();
  equal(limit.signal.aborted, true);
  equal(limit.isOver, true);
});

test("a deadline that was disposed no longer hears the outer signal", () => {
  const outer = new AbortController();
  const limit = deadline(outer.signal, 1000, never);
  limit[Symbol.dispose]();
  outer.abort();
  equal(limit.signal.aborted, false);
});
