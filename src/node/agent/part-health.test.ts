// What the settings say of health counts while the agent runs, also what comes after the parts have begun.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { silentLog, systemClock } from "../../base/lib/index.ts";
import { createHealth } from "../../base/observe/index.ts";
import { PartHealth } from "./part-health.ts";

test("a timeout that is set later counts for parts that run already, by the original's names", () => {
  let nowMs = 0;
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const health = createHealth({ clock, log: silentLog });
  const overrides = new Map<string, number>();
  const partHealth = new PartHealth({ health, clock, isStrict: () => true, timeoutOf: (name) => overrides.get(name) });
  const parts = ["policy", "routes"].map((name) => partHealth.ofPart({ name, run: async () => undefined }));
  for (const part of parts) part.report({ live: true, ready: true });
  nowMs = 80_000;
  const live = () => health.summary().components.map(({ name, live: is }) => [name, is]);
  deepEqual(live(), [
    ["InternalDataplaneMainLoop", "yes"],
    ["routes", "yes"],
  ]);
  overrides.set("InternalDataplaneMainLoop", 60_000);
  deepEqual(live()[0], ["InternalDataplaneMainLoop", "timed out"]);
  overrides.set("InternalDataplaneMainLoop", 0);
  nowMs = 1e9;
  deepEqual(live()[0], ["InternalDataplaneMainLoop", "yes"]);
});
