import { equal } from "node:assert/strict";
import { test } from "node:test";
import { printGoFloat } from "./go-float.ts";

const cases: [number, string][] = [
  [90, "90"],
  [1.5, "1.5"],
  [123456.5, "123456.5"],
  [999999, "999999"],
  [1000000, "1e+06"],
  [1234567, "1.234567e+06"],
  [2592000, "2.592e+06"],
  [0.0001, "0.0001"],
  [0.00005, "5e-05"],
  [0, "0"],
  [-1.5, "-1.5"],
  [1e21, "1e+21"],
  [1.5e100, "1.5e+100"],
];
for (const [value, text] of cases) test(`Go prints ${value} as ${text}`, () => equal(printGoFloat(value), text));
