import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import { parseJson } from "./exact-json.ts";

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
