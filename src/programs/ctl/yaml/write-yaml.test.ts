import { deepEqual, equal } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { parseJson, writeJson } from "../../../base/lib/index.ts";
import { compareKeys } from "./key-order.ts";
import { readYaml } from "./read-yaml.ts";
import { writeYaml } from "./write-yaml.ts";

const vectors = new URL("../../../../test/vectors/yaml/written.json", import.meta.url);
type Row = { readonly given: unknown; readonly yaml?: string };

test("600 values of all kinds are written as Go writes them", () => {
  const rows = JSON.parse(readFileSync(vectors, "utf8")) as Row[];
  const written = rows.filter(({ yaml }) => yaml !== undefined);
  equal(written.length > 500, true);
  for (const { given, yaml } of written) equal(writeYaml(given), yaml, JSON.stringify(given));
});

const cases: { name: string; value: unknown; yaml: string }[] = [
  {
    name: "lists stand at the indentation of their key",
    value: { a: [1, { b: [2] }] },
    yaml: "a:\n- 1\n- b:\n  - 2\n",
  },
  { name: "nothing is null", value: null, yaml: "null\n" },
  { name: "empty maps and lists are written as such", value: { a: {}, b: [] }, yaml: "a: {}\nb: []\n" },
  {
    name: "what YAML 1.1 would take for something else is in quotes",
    value: ["true", "y", "1", "null", "", "2026-01-01T00:00:00Z", "0x1F", "1:30"],
    yaml: '- "true"\n- "y"\n- "1"\n- "null"\n- ""\n- "2026-01-01T00:00:00Z"\n- "0x1F"\n- "1:30"\n',
  },
  { name: "JSON within a text is in single quotes", value: '{"zone":"a"}', yaml: '\'{"zone":"a"}\'\n' },
  {
    name: "a long text is broken at the first space after column 80",
    value: { a: `${"x".repeat(78)} y z` },
    yaml: `a: ${"x".repeat(78)}\n  y z\n`,
  },
  { name: "lines stay lines", value: { a: "b\nc\n" }, yaml: "a: |\n  b\n  c\n" },
  {
    name: "a long key stands after a question mark",
    value: { ["k".repeat(129)]: 1 },
    yaml: `? ${"k".repeat(129)}\n: 1\n`,
  },
  { name: "large whole numbers keep their digits", value: 1794729939941964722n, yaml: "1794729939941964722\n" },
  { name: "members that are undefined are left out", value: { a: undefined, b: 1 }, yaml: "b: 1\n" },
];
for (const { name, value, yaml } of cases) test(`YAML: ${name}`, () => equal(writeYaml(value), yaml));

test("keys with numbers in them are ordered by the numbers, letters come last", () => {
  deepEqual(["b", "a10", "a2", "_", "a", "A", "1", "a02"].sort(compareKeys), [
    "_",
    "1",
    "A",
    "a",
    "a2",
    "a02",
    "a10",
    "b",
  ]);
});

test("what is written is read back as it was", () => {
  // JSON itself has no -0. A key "<<" is written as go-yaml writes it, which takes it for a merge when it reads it back.
  const texts = fc.jsonValue().map((one) => JSON.stringify(one));
  const value = texts.filter((text) => !text.includes('"<<":')).map((text) => parseJson(text));
  fc.assert(
    fc.property(value, (one) => {
      equal(writeJson(sorted(readYaml(writeYaml(one)))), writeJson(sorted(one)));
    }),
    { numRuns: 200 },
  );
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}
