import { equal } from "node:assert/strict";
import { test } from "node:test";
import { screenSeverity } from "./confd-severity.ts";

const rows: [said: string | undefined, is: string | undefined][] = [
  [undefined, undefined],
  ["", undefined],
  ["Debug", "DEBUG"],
  ["warn", "WARNING"],
  ["panic", "FATAL"],
  ["loud", undefined],
  ["constructor", undefined],
];
for (const [said, is] of rows) {
  test(`BGP_LOGSEVERITYSCREEN=${said}: ${is}`, () => equal(screenSeverity({ BGP_LOGSEVERITYSCREEN: said }), is));
}
