import { deepEqual, equal } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { readQuickly } from "../../../base/yaml/index.ts";
import { readYaml } from "./read-yaml.ts";
import { writeYaml } from "./write-yaml.ts";

const read = new URL("../../../../test/vectors/yaml/read.json", import.meta.url);
const written = new URL("../../../../test/vectors/yaml/written.json", import.meta.url);

/** Answers whether it was read; fails where the two readers differ. */
function agrees(text: string): boolean {
  const quick = readQuickly(text);
  if (quick === undefined) return false;
  deepEqual(quick.value, readYaml(text), JSON.stringify(text));
  return true;
}

const usual: { name: string; text: string }[] = [
  {
    name: "a manifest",
    text: "apiVersion: projectcalico.org/v3\nkind: IPPool\nmetadata:\n  name: p\nspec:\n  cidr: 10.0.0.0/16 # the office\n  natOutgoing: true\n",
  },
  { name: "a separator and comments", text: "--- # one\n# two\nkind: X\n\n  # three\nspec:\n  a: b\n" },
  {
    name: "lists at the column of their key",
    text: "spec:\n  nets:\n  - 10.0.0.0/8\n  - fd00::/8\n  types: [Ingress, Egress]\n",
  },
  {
    name: "lists indented further",
    text: "spec:\n  rules:\n    - action: Allow\n      source:\n        nets:\n          - 10.0.0.0/8\n    - action: Deny\n  order: 10\n",
  },
  { name: "selectors", text: "spec:\n  selector: role == 'web' && has(app)\n  other: \"a: b\"\n  third: 'it''s'\n" },
  {
    name: "scalars of YAML 1.1",
    text: 'metadata:\n  name: n\n  labels: {a: yes, b: 1.0, c: 010, d: 0x1F, g: "y", h: 12e2}\n',
  },
  {
    name: "JSON over several lines",
    text: '{\n  "kind": "IPPool",\n  "spec": {"cidr": "10.0.0.0/8", "a": [1, -2.5e3, true, null, ""]}\n}\n',
  },
  { name: "a list of objects", text: "- kind: A\n  metadata:\n    name: a\n- kind: B\n-\n  kind: C\n" },
  { name: "a field without a value", text: "kind: A\nmetadata:\nspec: {}\n" },
  { name: "nothing but comments", text: "# nothing\n" },
  { name: "lines that end with CR LF", text: "kind: A\r\nspec:\r\n  a: b\r\n" },
];
for (const { name, text } of usual) test(`read quickly: ${name}`, () => equal(agrees(text), true));

const unusual: { name: string; text: string }[] = [
  { name: "anchors", text: "a: &x b\nc: *x\n" },
  { name: "tags", text: "a: !!str 5\n" },
  { name: "text of several lines", text: "a: b\n  c\n" },
  { name: "literal lines", text: "a: |\n  b\n" },
  { name: "a key twice", text: "a: 1\na: 2\n" },
  { name: "tabs", text: "a:\n\tb: 1\n" },
  { name: "wrong indentation", text: "a:\n    b: 1\n  c: 2\n" },
  { name: "a list in a list", text: "- - a\n" },
  { name: "a colon in a plain text", text: "a: b: c\n" },
  { name: "a key that is true", text: "yes: 1\n" },
  { name: "brackets without end", text: "[".repeat(10000) },
  { name: "a document start that is indented, which is text", text: "  ---\n" },
];
for (const { name, text } of unusual)
  test(`left to the whole language: ${name}`, () => equal(readQuickly(text), undefined));

test("all texts of the vectors are read as the whole language reads them, or not at all", () => {
  const texts = [
    ...(JSON.parse(readFileSync(read, "utf8")) as { given: string }[]).map(({ given }) => given),
    ...(JSON.parse(readFileSync(written, "utf8")) as { yaml?: string }[]).map(({ yaml = "" }) => yaml),
  ];
  equal(texts.filter(agrees).length > 300, true);
});

const scalar = fc.constantFrom(
  ..."a|b c|yes|~||1|010|1.5|.5|-5|- 5|'q'|'it''s'|\"d\\n\"|[a, b]|{a: 1, b: [x]}|[]|{}|[a,b]|{a:1}|[a: b]|{\"a\":1}|a # c|a#b|a:b|a: b|#c|&x a|*x|!x y|10.0.0.0/16|all()|has(x) && y == 'z'|---|...|-|?|? a|@x|%x|`x`|\"a\" b|'a' # c|[a] # c|[a # c]|{a: 'b # c'}|\"\\u0041\"|\"\\ud83d\"|<<|a\\|b".split(
    /(?<!\\)\|/,
  ),
);
const name = fc.constantFrom("a", "b", "kind", "'q'", '"d"', "a b", "a.b/c", "yes", "1", "-a", "a:", "<<", "__proto__");
const line = fc
  .tuple(
    fc.constantFrom("", "", "  ", "  ", "    ", " ", "\t"),
    fc.constantFrom("", "", "- ", "-", "- - ", "-  "),
    fc.option(name),
    scalar,
  )
  .map(
    ([indent, dash, key, value]) =>
      `${indent}${dash}${key === null ? "" : `${key}:${value === "" ? "" : " "}`}${value}`,
  );

test("random lines are read as the whole language reads them, or not at all", () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), fc.constantFrom("\n", ""), (lines, end) => {
      agrees(lines.join("\n") + end);
    }),
    { numRuns: 2000 },
  );
});

test("what writeYaml and JSON write is read as the whole language reads it, or not at all", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      agrees(writeYaml(value));
      agrees(JSON.stringify(value, null, 2));
    }),
    { numRuns: 300 },
  );
});
