import { deepEqual, equal } from "node:assert/strict";
import { availableParallelism } from "node:os";
import { test } from "node:test";
import { settingsWith } from "../../../base/config/index.ts";
import { defaultServerLimits, serverLimits, workerCount } from "./server-limits.ts";

test("a server that is started without settings has the limits of the settings table", () => {
  deepEqual({ ...defaultServerLimits, ...serverLimits(settingsWith()) }, defaultServerLimits);
});

const counts: { workers: number | "auto"; expected: number }[] = [
  { workers: "auto", expected: Math.min(8, availableParallelism()) },
  { workers: 0, expected: 0 },
  { workers: 64, expected: 64 },
];
for (const { workers, expected } of counts) {
  test(`TYPHA_WORKERS=${workers} is ${workers === "auto" ? "one for each core, at most 8" : expected}`, () => {
    equal(workerCount({ workers }), expected);
  });
}
