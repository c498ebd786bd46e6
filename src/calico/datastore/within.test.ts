import { equal } from "node:assert/strict";
import { test } from "node:test";
import type { Within } from "./datastore.ts";
import { selectionOf } from "./within.ts";

const cases: { name: string; within: Within; id: { namespace: string; name: string }; isIn: boolean }[] = [
  { name: "nothing is asked", within: {}, id: { namespace: "", name: "a" }, isIn: true },
  { name: "the name", within: { name: "n1" }, id: { namespace: "", name: "n1" }, isIn: true },
  { name: "a name that only begins so", within: { name: "n1" }, id: { namespace: "", name: "n10" }, isIn: false },
  { name: "the name in any namespace", within: { name: "n1" }, id: { namespace: "x", name: "n1" }, isIn: true },
  {
    name: "the name elsewhere",
    within: { name: "n1", namespace: "y" },
    id: { namespace: "x", name: "n1" },
    isIn: false,
  },
  { name: "a prefix", within: { namePrefix: "n" }, id: { namespace: "", name: "n10" }, isIn: true },
];
for (const { name, within, id, isIn } of cases) {
  test(`within: ${name}`, () => equal(selectionOf(within).hasId(id), isIn));
}
