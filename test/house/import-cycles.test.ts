// No file of src/ imports itself by way of others, not even for a type.
import { deepEqual, ok } from "node:assert/strict";
import { test } from "node:test";
import { type ImportGraph, importCycles, importGraph } from "../../tools/import-cycles.ts";

const cases: { name: string; imports: { [file: string]: string[] }; cycles: string[][] }[] = [
  { name: "nothing", imports: {}, cycles: [] },
  { name: "a chain", imports: { a: ["b"], b: ["c"], c: [] }, cycles: [] },
  { name: "a diamond", imports: { a: ["b", "c"], b: ["d"], c: ["d"], d: [] }, cycles: [] },
  { name: "itself", imports: { a: ["a"] }, cycles: [["a"]] },
  { name: "two", imports: { a: ["b"], b: ["a"] }, cycles: [["a", "b"]] },
  {
    name: "a circle behind a chain, and one beside it",
    imports: { a: ["b"], b: ["c"], c: ["d"], d: ["b"], e: ["f", "a"], f: ["e"] },
    cycles: [
      ["b", "c", "d"],
      ["e", "f"],
    ],
  },
  {
    name: "two circles that share a file",
    imports: { a: ["b", "c"], b: ["a"], c: ["a"] },
    cycles: [["a", "b", "c"]],
  },
  { name: "what is not in the tree is nobody's circle", imports: { a: ["x"] }, cycles: [] },
];
for (const { name, imports, cycles } of cases) {
  test(`circles of imports: ${name}`, () => {
    const graph: ImportGraph = new Map(Object.entries(imports));
    deepEqual(importCycles(graph), cycles);
  });
}

test("no files of src/ import each other in a circle, types included", () => {
  const graph = importGraph("src");
  ok(graph.size > 100, "no files under src/: is this the repository root?");
  deepEqual(importCycles(graph), []);
});
