import { deepEqual, equal, throws } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { parseJson, writeJson } from "../../../base/lib/index.ts";
import { lineOfField, readYaml, YamlError } from "./read-yaml.ts";

const vectors = new URL("../../../../test/vectors/yaml/read.json", import.meta.url);
type Row = { readonly given: string; readonly json?: string; readonly error?: string };

/** Tabs between tokens, a document that ends before it begins, and infinite numbers, which the schema refuses later. */
const readsMore = /found character that cannot start any token|did not find expected node content|unsupported value/;
/** Quotes that go on at the start of the next line. */
const readsLess = /'\n\w/;

test("texts of all kinds mean what they mean to Go, or are refused", () => {
  const rows = JSON.parse(readFileSync(vectors, "utf8")) as Row[];
  const wrong: string[] = [];
  for (const { given, json, error = "" } of rows) {
    if (readsMore.test(error) || readsLess.test(given)) continue;
    const ours = attempt(given);
    const theirs = json === undefined ? "refused" : writeJson(sorted(parseJson(json)));
    if (ours !== theirs) wrong.push(`${JSON.stringify(given)}: ${ours}, not ${theirs} ${error}`);
  }
  deepEqual(wrong, []);
});

function attempt(text: string): string {
  try {
    return writeJson(sorted(readYaml(text)));
  } catch (error) {
    if (error instanceof YamlError) return "refused";
    throw error;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}

const meanings: { name: string; yaml: string; value: unknown }[] = [
  {
    name: "plain scalars are those of YAML 1.1",
    yaml: "[y, No, on, 010, 0x1F, 0b11, 1_000, 12e2, ~, 1.0, .5, 2026-01-01, 1:30]",
    value: [true, false, true, 8, 31, 3, 1000, 1200, null, 1, 0.5, "2026-01-01", "1:30"],
  },
  { name: "quoted scalars are text", yaml: `["y", '1', !!str 5]`, value: ["y", "1", "5"] },
  { name: "keys become text", yaml: "{1: a, yes: b, 1.5: c}", value: { 1: "a", true: "b", "1.5": "c" } },
  { name: "aliases are replaced", yaml: "a: &x {b: 1}\nc: *x", value: { a: { b: 1 }, c: { b: 1 } } },
  { name: "maps are merged", yaml: "a: &x {b: 1}\nc:\n  <<: *x\n  d: 2", value: { a: { b: 1 }, c: { b: 1, d: 2 } } },
  { name: "whole numbers beyond 2^53 stay exact", yaml: "1794729939941964722", value: 1794729939941964722n },
  { name: "a text without a new line at its end has none in its last lines", yaml: "a: |\n  b", value: { a: "b" } },
  { name: "nothing but a comment is null", yaml: "# nothing", value: null },
];
for (const { name, yaml, value } of meanings) test(`YAML: ${name}`, () => deepEqual(readYaml(yaml), value));

const refused: { name: string; yaml: string; line: number; says: RegExp }[] = [
  { name: "a key twice", yaml: "a: 1\nb: 2\na: 3", line: 3, says: /key "a" already set in map/ },
  { name: "a merged key that is there", yaml: "x: &x {b: 1}\nc:\n  b: 2\n  <<: *x", line: 4, says: /"b" already set/ },
  { name: "a tab as indentation", yaml: "a:\n\tb: 1", line: 2, says: /[Tt]abs/ },
  { name: "a list that does not end", yaml: "a: [\n", line: 2, says: /end with a \]/ },
  { name: "an alias of nothing", yaml: "a: *x", line: 1, says: /x/ },
  { name: "a key that is a list", yaml: "? [a]\n: b", line: 1, says: /key must be/ },
  { name: "a control character", yaml: "a: b\nc: \u0001", line: 2, says: /control characters/ },
  { name: "brackets without end", yaml: "[".repeat(20000), line: 1, says: /deep|\]/ },
  { name: "aliases of aliases", yaml: bomb(), line: 1, says: /aliasing/ },
];
for (const { name, yaml, line, says } of refused) {
  test(`YAML is refused: ${name}`, () => {
    throws(
      () => readYaml(yaml),
      (error) => error instanceof YamlError && error.line === line && says.test(error.message),
    );
  });
}

/** Eight lines that mean 10^8 values. */
function bomb(): string {
  const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
  for (let i = 1; i < 8; i++)
    lines.push(`a${i}: &a${i} [${Array.from({ length: 10 }, () => `*a${i - 1}`).join(", ")}]`);
  return lines.join("\n");
}

test("the line of a field is found, or that of what there is of it", () => {
  const text = "kind: X\nmetadata:\n  labels:\n    a.b/c: d\nspec:\n  rules:\n  - action: Allow\n  - {action: Deny}\n";
  const lines = [
    "",
    "kind",
    "metadata.labels.a.b/c",
    "spec.rules[0].action",
    "spec.rules[1].action",
    "spec.none",
    "none",
  ];
  deepEqual(
    lines.map((field) => lineOfField(text, field)),
    [1, 1, 4, 7, 8, 5, 1],
  );
});

test("any text is read or refused, and never more than that", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ maxLength: 60 }), fc.string({ unit: fc.constantFrom(..."ab:-[]{}#&*!|>'\"%@` \n\t?,<1~") })),
      (text) => {
        attempt(text);
        equal(lineOfField(text, "spec.a[0]") >= 1, true);
      },
    ),
    { numRuns: 300 },
  );
});
