import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { Tally, type TallyItem } from "../index.ts";

type Observed = Extract<TallyItem, { is: "observe" }>;

function drained(values: readonly number[]): Observed[] {
  const tally = new Tally();
  for (const value of values) tally.observe("typha_kvs_per_msg", "felix", value);
  return tally.drain().filter((item) => item.is === "observe");
}

const cases: { name: string; values: number[]; becomes: { value: number; times: number; sum: number }[] }[] = [
  { name: "one that recurs is handed over once", values: [105, 105], becomes: [{ value: 105, times: 2, sum: 210 }] },
  {
    name: "small counts stay apart",
    values: [1, 2, 3, 1],
    becomes: [
      { value: 1, times: 2, sum: 2 },
      { value: 2, times: 1, sum: 2 },
      { value: 3, times: 1, sum: 3 },
    ],
  },
  {
    name: "what hardly differs goes together, and adds up exactly",
    values: [1000, 1001, 1002],
    becomes: [{ value: 1000, times: 3, sum: 3003 }],
  },
  {
    name: "nothing, and what is no duration, is 0",
    values: [0, -5, Number.POSITIVE_INFINITY, Number.NaN],
    becomes: [{ value: 0, times: 4, sum: 0 }],
  },
];
for (const { name, values, becomes } of cases) {
  test(`of what is observed ${name}`, () => {
    deepEqual(
      drained(values).map(({ value, times, sum }) => ({ value, times, sum })),
      becomes,
    );
  });
}

test("of what is observed few are handed over, each within 2 % of those it stands for", () => {
  const items = drained(Array.from({ length: 100_000 }, (_, index) => index + 1));
  ok(items.length < 600, `${items.length}`);
  equal(
    items.reduce((total, { sum }) => total + sum, 0),
    (100_000 * 100_001) / 2,
  );
  for (const { value, times, sum } of items) ok(Math.abs(sum / times / value - 1) < 0.02, `${value}`);
});
