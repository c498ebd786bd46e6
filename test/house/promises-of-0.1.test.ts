// What release 0.1 promised is still there: an installation that is upgraded keeps its settings, dashboards, alerts and programs. The list was made from
// that release's own reference pages (test/vectors/release-0.1.json); test/walks/release-upgrade.test.ts runs the two releases beside each other.
import { deepEqual, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

type Promises = {
  readonly settings: { readonly [name: string]: string };
  readonly metrics: readonly string[];
  readonly errors: readonly string[];
  readonly findings: readonly string[];
  readonly exports: readonly string[];
};
const promised = JSON.parse(readFileSync("test/vectors/release-0.1.json", "utf8")) as Promises; // our own file
const page = (name: string) => readFileSync(`docs/reference/${name}.md`, "utf8");

test("every setting, with its default", () => {
  const rows = page("settings").matchAll(/^\| `(TYPHA_\w+)` \|[^|]*\|[^|]*\|([^|]*)\|/gm);
  const now = Object.fromEntries([...rows].map(([, name = "", value = ""]) => [name, value.trim()]));
  const kept = Object.fromEntries(Object.keys(promised.settings).map((name) => [name, now[name]]));
  deepEqual(kept, promised.settings);
});

/** Errors that are another code now, on purpose: CHANGELOG.md says so. */
const renamed: readonly string[] = [];

const lists: { readonly what: string; readonly names: readonly string[]; readonly on: string }[] = [
  { what: "metric", names: promised.metrics, on: "metrics" },
  { what: "error code", names: promised.errors, on: "errors" },
  { what: "finding of the doctor", names: promised.findings, on: "doctor" },
  { what: "name of the library", names: promised.exports, on: "library" },
];
for (const { what, names, on } of lists)
  test(`every ${what}`, () => {
    ok(names.length > 20);
    const text = page(on);
    deepEqual(
      names.filter((name) => !text.includes(`\`${name}`) && !renamed.includes(name)),
      [],
    );
  });
