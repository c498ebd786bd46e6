// The plain form against the whole parser: what is written is read back, by both and alike; what one of them reads alone is never an answer.
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseDocument } from "yaml";
import { readPlainYaml, writePlainYaml } from "./plain-yaml.ts";
import { readManifests } from "./read-manifests.ts";

const block = {
  apiVersion: "crd.projectcalico.org/v1",
  kind: "IPAMBlock",
  metadata: { name: "10-0-0-0-26", annotations: { "projectcalico.org/metadata": '{"labels":{"a":"b"}}' } },
  spec: {
    allocations: [0, ...Array.from({ length: 33 }, () => null)],
    attributes: [{ handle_id: "net.c1", secondary: { node: "n1", timestamp: "2026-11-16 10:19:52 +0000 UTC" } }, {}],
    cidr: "10.0.0.0/26",
    deleted: false,
    rules: [],
    sequenceNumber: 1794729939941964722n,
    strings: ["yes", "plain words", "", "#", "1.0", "a: b"],
  },
};

test("an object looks as a person would write it", () => {
  equal(
    writePlainYaml(block),
    `apiVersion: crd.projectcalico.org/v1
kind: IPAMBlock
metadata:
  name: "10-0-0-0-26"
  annotations:
    projectcalico.org/metadata: '{"labels":{"a":"b"}}'
spec:
  allocations: [
    0, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
    null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
    null, null]
  attributes:
    - handle_id: net.c1
      secondary:
        node: n1
        timestamp: "2026-11-16 10:19:52 +0000 UTC"
    - {}
  cidr: 10.0.0.0/26
  deleted: false
  rules: []
  sequenceNumber: 1794729939941964722
  strings:
    - "yes"
    - plain words
    - ""
    - "#"
    - "1.0"
    - "a: b"
`,
  );
  deepEqual(readPlainYaml(writePlainYaml(block)), block);
});

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom(
    "yes",
    "No",
    "~",
    "null",
    "1e3",
    "0x1",
    "2026-01-01",
    "a: b",
    "a #b",
    "- a",
    "<<",
    "__proto__",
    "'",
    '"',
    " a",
    "a ",
    "a\nb",
    "\u0085",
    "\u2028",
    "\ud800",
    "1_0",
    ".inf",
    "|",
    "---",
    "[",
    "{}",
  ),
  fc.string({ maxLength: 8 }),
);
const scalar = fc.oneof(
  text,
  fc.integer(),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    scalar,
    fc.array(fc.oneof(fc.integer(), fc.constant(null)), { maxLength: 40 }),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(text, tie("value"), { maxKeys: 4 }),
  ),
}));

test("whatever is written is read back, by this reader and by the whole parser", () => {
  fc.assert(
    fc.property(fc.dictionary(text, anyValue, { maxKeys: 4 }), (fields) => {
      const value = { kind: "Tier", spec: fields };
      const written = writePlainYaml(value);
      const plain = readPlainYaml(written);
      ok(plain !== undefined, written);
      // Numbers that are whole and large are bigint when read, whatever they were.
      equal(writePlainYaml(plain), written);
      deepEqual(wholeParser(written), plain, written);
    }),
    { numRuns: 400 },
  );
});

test("of a text that was bent, both readers say the same or the plain one says nothing", () => {
  const lines = writePlainYaml(block);
  let read = 0;
  fc.assert(
    fc.property(
      fc.nat(lines.length - 1),
      fc.nat(3),
      fc.constantFrom(
        "",
        " ",
        "  ",
        "\n",
        "#",
        " #",
        ":",
        ": ",
        "- ",
        "[",
        "]",
        ",",
        '"',
        "'",
        "&a ",
        "*a",
        "\t",
        "a",
        "1",
        "|",
        "---\n",
        "? ",
        "\n\n",
        "\n  ",
        "{",
        "}",
      ),
      (at, drop, put) => {
        const bent = lines.slice(0, at) + put + lines.slice(at + drop);
        const plain = readPlainYaml(bent);
        if (plain === undefined) return;
        read += 1;
        deepEqual(wholeParser(bent), plain, bent);
      },
    ),
    { numRuns: 1_500 },
  );
  ok(read > 30, `only ${read} were read`);
});

const left: { name: string; text: string }[] = [
  { name: "a comment", text: "kind: Tier # mine\n" },
  { name: "a comment on its own line", text: "kind: Tier\n# mine\n" },
  { name: "an anchor", text: "kind: &k Tier\n" },
  { name: "two documents", text: "kind: Tier\n---\nkind: Tier\n" },
  { name: "a field twice", text: "kind: Tier\nkind: Tier\n" },
  { name: "flow style", text: "kind: Tier\nspec: {a: 1}\n" },
  { name: "no line end", text: "kind: Tier" },
  { name: "a list that is not indented", text: "kind: Tier\nspec:\n- a\n" },
  { name: "an old truth value", text: "kind: Tier\nspec: yes\n" },
  { name: "nothing after the colon", text: "kind: Tier\nspec:\n" },
  { name: "nothing", text: "" },
];
for (const { name, text: given } of left) {
  test(`left to the whole parser: ${name}`, () => equal(readPlainYaml(given), undefined));
}

/** As read-manifests.ts calls it. */
function wholeParser(written: string): unknown {
  const document = parseDocument(written, { intAsBigInt: true, merge: true, prettyErrors: false, logLevel: "error" });
  deepEqual(document.errors, [], written);
  const small = (value: unknown): unknown => {
    if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
    if (Array.isArray(value)) return value.map(small);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, small(field)]));
  };
  return small(document.toJS());
}

test("a manifest is read alike with and without a comment", () => {
  const tier = writePlainYaml({
    apiVersion: "projectcalico.org/v3",
    kind: "Tier",
    metadata: { name: "a" },
    spec: { order: 1 },
  });
  deepEqual(
    readManifests(tier).objects.map(({ value }) => value),
    readManifests(`${tier}# mine\n`).objects.map(({ value }) => value),
  );
});
