import { equal } from "node:assert/strict";
import test from "node:test";
import { boxTable } from "./box-table.ts";

const columns = [{ heading: "CIDR" }, { heading: "IPS FREE", align: "right" }] as const;

const cases: { name: string; rows: string[][]; table: string[] }[] = [
  {
    name: "without rows it is the headings and an empty box",
    rows: [],
    table: ["+------+----------+", "| CIDR | IPS FREE |", "+------+----------+", "+------+----------+"],
  },
  {
    name: "a column is as wide as its widest cell, and a number stands on the right",
    rows: [
      ["10.65.0.0/16", "65535 (100%)"],
      ["10.1.0.0/28", "2 (12%)"],
    ],
    table: [
      "+--------------+--------------+",
      "| CIDR         | IPS FREE     |",
      "+--------------+--------------+",
      "| 10.65.0.0/16 | 65535 (100%) |",
      "| 10.1.0.0/28  |      2 (12%) |",
      "+--------------+--------------+",
    ],
  },
  {
    name: "a missing cell is an empty one, and characters count, not their bytes",
    rows: [["nöde-😀"]],
    table: [
      "+--------+----------+",
      "| CIDR   | IPS FREE |",
      "+--------+----------+",
      "| nöde-😀 |          |",
      "+--------+----------+",
    ],
  },
];
for (const { name, rows, table } of cases) {
  test(`box table: ${name}`, () => equal(boxTable(columns, rows), `${table.join("\n")}\n`));
}
