import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseJson, writeJson } from "./exact-json.ts";
import { messageOf } from "./message-of.ts";

const cases: { name: string; text: string; value: unknown }[] = [
  { name: "small numbers stay numbers", text: '{"a":1,"b":1.5}', value: { a: 1, b: 1.5 } },
  { name: "integers beyond 2^53 become bigint", text: "[1723456789012345678]", value: [1723456789012345678n] },
  { name: "2^53 - 1 is still a number", text: "[9007199254740991]", value: [9007199254740991] },
  { name: "negative ones too", text: "[-9007199254740993]", value: [-9007199254740993n] },
  { name: "long fractions stay numbers", text: "[0.12345678901234566]", value: [0.12345678901234566] },
  { name: "digits in strings stay strings", text: '["1723456789012345678"]', value: ["1723456789012345678"] },
  {
    name: "a long number beside a text of digits is seen",
    text: '{"1723456789012345678":"1723456789012345678","b":1723456789012345678}',
    value: { "1723456789012345678": "1723456789012345678", b: 1723456789012345678n },
  },
  { name: "exponents stay numbers", text: '["0000000000000000",1e300]', value: ["0000000000000000", 1e300] },
];
for (const { name, text, value } of cases) test(`parseJson: ${name}`, () => deepEqual(parseJson(text), value));

test("parseJson: a long integer is seen wherever it stands", () => {
  for (let blanks = 0; blanks < 40; blanks++) {
    const text = `[${" ".repeat(blanks)}9007199254740993, 1]`;
    deepEqual(parseJson(text), [9007199254740993n, 1], `after ${blanks} blanks`);
  }
});

test("parseJson throws on what is not JSON", () => throws(() => parseJson("{1723456789012345678"), SyntaxError));

const long = "1763312345678901234";
const odd: { name: string; text: string }[] = [
  { name: "texts with marks and backslashes before a long number", text: `["a\\"b\\\\",${long},"\\\\\\"",[${long}]]` },
  { name: "digits in a text that looks like a list", text: `{"a":"[1, ${long}]","b":${long}}` },
  {
    name: "fractions and exponents of many digits",
    text: `[1234567890123456.5,0.${long},${long}e2,1e${"0".repeat(20)}2,${long}]`,
  },
  { name: "negative ones, and those with zeros", text: `[-${long},-9007199254740991,1000000000000000000000]` },
  { name: "numbers without a space around them", text: `[${long},${long},[${long}],{"a":${long}}]` },
  { name: "a text that begins as the inner mark does", text: `["\\u000112",${long}]` },
  { name: "a member of a prototype's name", text: `{"__proto__":${long},"constructor":{"__proto__":{"a":${long}}}}` },
  { name: "a number alone", text: long },
  { name: "members twice", text: `{"a":${long},"a":1}` },
];
for (const { name, text } of odd) {
  test(`parseJson: ${name}: as a reviver that sees each source`, () => deepEqual(parseJson(text), bySource(text)));
}

test("parseJson: whatever is written as JSON is read as a reviver reads it that sees each source", () => {
  const leaf = fc.oneof(
    fc.string({ unit: fc.constantFrom('"', "\\", "1", "12345678901234567", "[", ":", ",", "\u0001") }),
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, false),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(leaf, fc.array(tie("value")), fc.dictionary(fc.string(), tie("value"))),
  }));
  fc.assert(
    fc.property(fc.array(value), fc.constantFrom(undefined, " "), (given, indent) => {
      const text = writeJson(given, indent);
      deepEqual(parseJson(text), bySource(text));
    }),
    { numRuns: 200 },
  );
});

test("parseJson: what is wrong is said of the text as it was given", () => {
  throws(() => parseJson(`[${long}, x]`), { message: messageOfParse(`[${long}, x]`) });
});

function messageOfParse(text: string): string {
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    return messageOf(error);
  }
}

function bySource(text: string): unknown {
  // TypeScript's library does not know the third argument yet.
  const keep = (_name: string, value: unknown, context?: { source?: string }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?[0-9]+$/.test(context?.source ?? "")
      ? BigInt(context?.source ?? "")
      : value;
  return JSON.parse(text, keep);
}
