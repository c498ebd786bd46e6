import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "./clock.ts";
import { limitRepeats } from "./limit-repeats.ts";
import { type LogFields, silentLog } from "./log.ts";

test("repeats within a minute are counted, and the count comes with the next", () => {
  const lines: [string, LogFields][] = [];
  let nowMs = 0;
  const note = (message: string, fields: LogFields = {}) => void lines.push([message, fields]);
  const log = limitRepeats(
    { ...silentLog, warn: note, info: note },
    { clock: { ...systemClock, monotonicMs: () => nowMs } },
  );
  for (let i = 0; i < 10; i++) log.warn("again", { i });
  log.info("again");
  nowMs = 60_000;
  log.warn("again", { i: 10 });
  nowMs = 200_000;
  log.warn("again", { i: 11 });
  deepEqual(lines, [
    ["again", { i: 0 }],
    ["again", {}],
    ["again", { i: 10, repeats: 9 }],
    ["again", { i: 11 }],
  ]);
});
