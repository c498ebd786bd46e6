// What SECURITY.md and the pages about reliability and releasing name must exist: a test that was renamed or removed must
// not go on being somebody's proof.
import { deepEqual, ok } from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";

const pages = ["SECURITY.md", "CHANGELOG.md", "docs/reliability.md", "docs/releasing.md", "docs/performance.md"];

for (const page of pages) {
  const text = readFileSync(page, "utf8");
  describe(page, () => {
    test("every file that it names exists", () => {
      const named = [...text.matchAll(/`((?:src|test|tools|bench|docs|examples)\/[^\s`]*)`/g)].map(
        ([, path = ""]) => path,
      );
      deepEqual(
        named.filter((path) => !existsSync(path) && globSync(path).length === 0),
        [],
      );
    });

    test("every link within the repository leads somewhere", () => {
      const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, link = ""]) => link);
      const local = links.filter((link) => !/^[a-z]+:/.test(link));
      deepEqual(
        local.filter((link) => !existsSync(join(dirname(page), link))),
        [],
      );
    });

    test("every npm script that it names is there", () => {
      const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: { [name: string]: string } };
      const named = [...text.matchAll(/npm run ([a-z][a-z:-]*)/g)].map(([, name = ""]) => name);
      // "campaign:NAME" and "bench:NAME" stand for all of them.
      deepEqual(
        named.filter((name) => !name.endsWith(":") && scripts[name] === undefined),
        [],
      );
    });
  });
}

test("every threat has a test", () => {
  const text = readFileSync("SECURITY.md", "utf8");
  const rows = text
    .slice(text.indexOf("| threat |"), text.indexOf("What happens to the data"))
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
