// Unified diffs: some as diff -u writes them, and the rule that holds for all: the new text follows from the old one.
import { equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { unifiedDiff } from "./unified-diff.ts";

const names = { oldName: "a", newName: "b" };
const text = (...lines: string[]) => lines.map((line) => `${line}\n`).join("");
const head = "--- a\n+++ b\n";

const rows: { name: string; before: string; after: string; is: string }[] = [
  { name: "no difference", before: text("x"), after: text("x"), is: "" },
  { name: "all is new", before: "", after: text("x", "y"), is: `${head}@@ -0,0 +1,2 @@\n+x\n+y\n` },
  { name: "nothing is left", before: text("x"), after: "", is: `${head}@@ -1 +0,0 @@\n-x\n` },
  { name: "one line for another", before: text("x"), after: text("y"), is: `${head}@@ -1 +1 @@\n-x\n+y\n` },
  {
    name: "three lines around a change",
    before: text("1", "2", "3", "4", "5", "6", "7", "8", "9"),
    after: text("1", "2", "3", "4", "x", "6", "7", "8", "9"),
    is: `${head}@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n`,
  },
  {
    name: "changes far from each other are two hunks",
    before: text("a", "1", "2", "3", "4", "5", "6", "7", "b"),
    after: text("A", "1", "2", "3", "4", "5", "6", "7", "B"),
    is: `${head}@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n`,
  },
  {
    name: "changes near each other are one",
    before: text("a", "1", "2", "3", "4", "5", "6", "b"),
    after: text("A", "1", "2", "3", "4", "5", "6", "B"),
    is: `${head}@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n`,
  },
];
for (const { name, before, after, is } of rows) {
  test(`unified diff: ${name}`, () => equal(unifiedDiff(before, after, names), is));
}

test("unified diff: whoever applies it to the old text has the new one, and it is as short as can be", () => {
  const lines = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 25 });
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const diff = unifiedDiff(text(...before), text(...after), names);
      equal(applied(before, diff), text(...after));
      const edits = diff
        .split("\n")
        .slice(2)
        .filter((line) => /^[+-]/.test(line)).length;
      equal(edits, before.length + after.length - 2 * commonLength(before, after));
    }),
    { numRuns: 500 },
  );
});

/** As patch does it; every line of the diff that the old text must have is checked. */
function applied(before: readonly string[], diff: string): string {
  const result: string[] = [];
  let at = 0;
  for (const line of diff.split("\n").slice(2, -1)) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? /.exec(line);
    if (hunk !== null) {
      const start = Number(hunk[1]) - (hunk[2] === "0" ? 0 : 1);
      result.push(...before.slice(at, start));
      at = start;
    } else if (line.startsWith("+")) result.push(line.slice(1));
    else {
      equal(before[at], line.slice(1));
      if (line.startsWith(" ")) result.push(line.slice(1));
      at++;
    }
  }
  return text(...result, ...before.slice(at));
}

/** Of the longest common subsequence, by the slow way. */
function commonLength(a: readonly string[], b: readonly string[]): number {
  let row = Array.from({ length: b.length + 1 }, () => 0);
  for (const x of a) {
    const next = [0];
    for (const [at, y] of b.entries()) {
      next[at + 1] = x === y ? (row[at] ?? 0) + 1 : Math.max(next[at] ?? 0, row[at + 1] ?? 0);
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
