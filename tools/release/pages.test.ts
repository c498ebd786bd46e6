// What SECURITY.md, the pages about reliability and the changelog promise is proven by a test and of this version. (That
// what pages name exists at all is looked after by test/house/pages.test.ts.)
import { deepEqual, ok } from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";

test("every threat has a test", () => {
  const text = readFileSync("SECURITY.md", "utf8");
  const rows = text
    .slice(text.indexOf("| threat |"), text.indexOf("\n\n", text.indexOf("| threat |")))
    .trim()
    .split("\n")
    .slice(2);
  ok(rows.length > 20);
  deepEqual(
    rows.filter((row) => !/`[^`]+\.test\.ts`/.test(row)),
    [],
  );
});

test("every invariant of ARCHITECTURE.md is in docs/reliability.md, word for word and with its tests", () => {
  const text = readFileSync("ARCHITECTURE.md", "utf8");
  const invariants = [...text.slice(text.indexOf("## What always holds")).matchAll(/^\d+\. (.*)$/gm)].map(
    ([, says = ""]) => says,
  );
  ok(invariants.length > 5);
  const rows = readFileSync("docs/reliability.md", "utf8").split("\n");
  const unproven = invariants.filter(
    (says) => !rows.some((row) => row.includes(says) && /`[^`]+\.test\.ts`/.test(row)),
  );
  deepEqual(unproven, []);
});

test("the guide installs the version in package.json", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  const named = globSync("docs/guide/*.md").flatMap((page) => {
    const tags = [...readFileSync(page, "utf8").matchAll(/\/cattail:(\d[\w.-]*)/g)].map(([, tag]) => tag);
    return tags.filter((tag) => tag !== version).map((tag) => `${page}: ${tag}`);
  });
  deepEqual(named, []);
});

test("the changelog speaks about the version in package.json, with its date", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  const heading = readFileSync("CHANGELOG.md", "utf8")
    .split("\n")
    .find((line) => line.startsWith(`## ${version} `));
  ok(/\(\d{4}-\d{2}-\d{2}\)$/.test(heading ?? ""), `no "## ${version} (DATE)" in CHANGELOG.md`);
});
