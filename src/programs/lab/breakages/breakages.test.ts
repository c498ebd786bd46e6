// The list of breakages: each has a finding of the doctor's catalogue, and a row on the lab's page.
import { deepEqual, equal } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { nodeFindingCodes } from "../../../node/diagnosis/index.ts";
import { breakageList, breakages, conditionOf } from "./index.ts";

test("the page has a row for each breakage, and no other", () => {
  const page = readFileSync("docs/reference/lab.md", "utf8");
  const rows = page.split("\n").filter((line) => /^\| `[a-z0-9-]+` \| `[A-Z_]+` \|/.test(line));
  deepEqual(
    rows,
    breakages.map((each) => `| \`${each.name}\` | \`${each.code}\` | ${each.says} | ${conditionOf(each) || "all"} |`),
  );
});

test("each is a finding that the doctor has, and has a name of its own", () => {
  deepEqual(
    breakages.map(({ code }) => code).filter((code) => !nodeFindingCodes.some((known) => known === code)),
    [],
  );
  equal(new Set(breakages.map(({ name }) => name)).size, breakages.length);
  equal(breakageList().split("\n").length, breakages.length);
});
