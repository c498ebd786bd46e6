// The sentences are those of Go 1.26's encoding/json.
import { equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { goJsonProblem } from "./go-json.ts";

const cases: { text: string; says: string | undefined }[] = [
  { text: ' ["a", {"b": [-1.5e+3, true, null]}] ', says: undefined },
  { text: "", says: "unexpected end of JSON input" },
  { text: '{"a":', says: "unexpected end of JSON input" },
  { text: '["a"', says: "unexpected end of JSON input" },
  { text: "pool-1", says: "invalid character 'p' looking for beginning of value" },
  { text: "['a']", says: "invalid character '\\'' looking for beginning of value" },
  { text: '["a",]', says: "invalid character ']' looking for beginning of value" },
  { text: "[é]", says: "invalid character 'Ã' looking for beginning of value" },
  { text: "10.0.0.1", says: "invalid character '.' after top-level value" },
  { text: '["a"] x', says: "invalid character 'x' after top-level value" },
  { text: "01", says: "invalid character '1' after top-level value" },
  { text: "[1 2]", says: "invalid character '2' after array element" },
  { text: "{a:1}", says: "invalid character 'a' looking for beginning of object key string" },
  { text: '{"a":1,}', says: "invalid character '}' looking for beginning of object key string" },
  { text: '{"a"}', says: "invalid character '}' after object key" },
  { text: '{"a":1 "b"}', says: "invalid character '\"' after object key:value pair" },
  { text: "tru", says: "invalid character ' ' in literal true (expecting 'e')" },
  { text: "nil", says: "invalid character 'i' in literal null (expecting 'u')" },
  { text: "- 1", says: "invalid character ' ' in numeric literal" },
  { text: "1.", says: "invalid character ' ' after decimal point in numeric literal" },
  { text: "1ex", says: "invalid character 'x' in exponent of numeric literal" },
  { text: '"a\nb"', says: "invalid character '\\n' in string literal" },
  { text: '"\u0001"', says: "invalid character '\\x01' in string literal" },
  { text: '"\\q"', says: "invalid character 'q' in string escape code" },
  { text: '"\\u12g4"', says: "invalid character 'g' in \\u hexadecimal character escape" },
];
for (const { text, says } of cases)
  test(`${JSON.stringify(text)}: ${says ?? "nothing is wrong"}`, () => equal(goJsonProblem(text), says));

test("a thousand brackets are no problem of their own", () =>
  equal(goJsonProblem("[".repeat(100_000)), "unexpected end of JSON input"));

test("what JavaScript takes has no problem, and what it does not has one", () => {
  const letters = fc.constantFrom(..."[]{},:\"\\ truefalsn01.-+eEu\n'é");
  const bent = fc.tuple(fc.json({ maxDepth: 3 }), fc.nat(), letters).map(([text, at, letter]) => {
    const place = at % (text.length + 1);
    return text.slice(0, place) + letter + text.slice(place + (at % 2));
  });
  fc.assert(
    fc.property(bent, (text) => {
      const problem = goJsonProblem(text);
      try {
        JSON.parse(text);
        equal(problem, undefined);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        equal(typeof problem, "string", text);
      }
    }),
  );
});
