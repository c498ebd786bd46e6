import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { type LogFields, silentLog } from "../log.ts";
import { systemClock } from "./clock.ts";
import { limitRepeats } from "./limit-repeats.ts";

type Line = { atMs: number; message: string; repeats?: number };

/** What goes out of the messages that come in at these times. */
function wentOut(messages: readonly (readonly [atMs: number, message: string])[]): Line[] {
  let nowMs = 0;
  const lines: Line[] = [];
  const warn = (message: string, fields: LogFields = {}) => lines.push({ atMs: nowMs, message, ...fields });
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const limited = limitRepeats({ ...silentLog, warn }, { clock, everyMs: 1000 });
  for (const [atMs, message] of messages) {
    nowMs = atMs;
    limited.warn(message);
  }
  return lines;
}

const cases: { name: string; messages: [number, string][]; lines: Line[] }[] = [
  { name: "the first goes out at once", messages: [[5, "a"]], lines: [{ atMs: 5, message: "a" }] },
  {
    name: "repeats are counted and told with the first one after the interval",
    messages: [
      [0, "a"],
      [10, "a"],
      [999, "a"],
      [1000, "a"],
    ],
    lines: [
      { atMs: 0, message: "a" },
      { atMs: 1000, message: "a", repeats: 2 },
    ],
  },
  {
    name: "other messages are counted apart",
    messages: [
      [0, "a"],
      [1, "b"],
      [2, "a"],
      [3, "b"],
    ],
    lines: [
      { atMs: 0, message: "a" },
      { atMs: 1, message: "b" },
    ],
  },
  {
    name: "after an interval without repeats there is no count",
    messages: [
      [0, "a"],
      [2000, "a"],
    ],
    lines: [
      { atMs: 0, message: "a" },
      { atMs: 2000, message: "a" },
    ],
  },
];
for (const { name, messages, lines } of cases) test(`repeats: ${name}`, () => deepEqual(wentOut(messages), lines));

test("repeats: the same words at another level are another message", () => {
  const heard: string[] = [];
  const log = { ...silentLog, warn: () => heard.push("warn"), error: () => heard.push("error") };
  const limited = limitRepeats(log, { clock: systemClock });
  limited.warn("a");
  limited.error("a");
  deepEqual(heard, ["warn", "error"]);
});

test("repeats: beyond a thousand different messages nothing is withheld", () => {
  const messages = Array.from({ length: 1000 }, (_, at): [number, string] => [0, `message ${at}`]);
  deepEqual(wentOut([...messages, [1, "one more"], [2, "one more"]]).length, 1002);
});
