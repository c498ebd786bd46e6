import { rejects } from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "./clock.ts";

test("a sleep whose signal has aborted rejects with the signal's reason", async () => {
  await rejects(systemClock.sleep(60_000, AbortSignal.abort(new Error("stopped"))), /stopped/);
});

test("a sleep whose signal aborts meanwhile rejects at once", async () => {
  const controller = new AbortController();
  const sleeping = systemClock.sleep(60_000, controller.signal);
  controller.abort(new Error("stopped"));
  await rejects(sleeping, /stopped/);
});
