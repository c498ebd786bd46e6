// What the page makes of values and times before a person reads them; no browser is needed for it.
import { equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { ago, duration, readable } from "../../web/format.ts";

describe("a value as the page shows it", () => {
  const changed: { name: string; value: string; shown: string }[] = [
    {
      name: "an integer beyond 2^53",
      value: '{"sequenceNumber":1794804008712345679}',
      shown: '{\n  "sequenceNumber": 1794804008712345679\n}',
    },
    { name: "one that is all of the value", value: "-1794804008712345679", shown: "-1794804008712345679" },
    {
      name: "numbers as they were written",
      value: "[1.0,1e400,-0,1E+2]",
      shown: "[\n  1.0,\n  1e400,\n  -0,\n  1E+2\n]",
    },
    { name: "keys in the order they came", value: '{"b":1,"1":2}', shown: '{\n  "b": 1,\n  "1": 2\n}' },
    { name: "a key that is there twice", value: '{"a":1,"a":2}', shown: '{\n  "a": 1,\n  "a": 2\n}' },
    {
      name: "what Go escapes",
      value: String.raw`{"s":"a \u0026\u0026 \u003cb\u003e"}`,
      shown: '{\n  "s": "a && <b>"\n}',
    },
    { name: "text that is no JSON", value: "Enabled, {really", shown: "Enabled, {really" },
    { name: "JSON cut short", value: '{"a":[1', shown: '{"a":[1' },
    { name: "nothing", value: "", shown: "" },
  ];
  for (const { name, value, shown } of changed) test(name, () => equal(readable(value), shown));

  const plain: { name: string; value: string }[] = [
    { name: "lists and objects in each other", value: '{"a":[{"b":[]},{},[[1,2],[]]],"c":{"d":{"e":null}}}' },
    { name: "space of its own", value: ' {\r\n\t"a" : [ 1 , true ] , "b" : { } } ' },
    {
      name: "brackets, commas and quotes in strings",
      value: String.raw`{"a\"]":"[{\"x\": 1,\\","é\\\\":"\n\t/\ud800"}`,
    },
    { name: "a string alone", value: '"a, b: c"' },
  ];
  for (const { name, value } of plain) {
    test(`${name}: indented as usual`, () => equal(readable(value), JSON.stringify(JSON.parse(value), null, 2)));
  }

  test("what is nested without end is shown as it is: indented it would be gigabytes", () => {
    const value = "[".repeat(200_000) + "]".repeat(200_000);
    equal(readable(value), value);
  });
});

describe("times as the page says them", () => {
  const durations: [number, string][] = [
    [-3_600_000, "0 ms"],
    [-0.4, "0 ms"],
    [0, "0 ms"],
    [412.4, "412 ms"],
    [12_000, "12 s"],
    [180_000, "3 min"],
    [5 * 3_600_000, "5 h"],
    [8 * 86_400_000, "8 days"],
  ];
  for (const [ms, said] of durations) test(`${ms} ms are "${said}"`, () => equal(duration(ms), said));

  test("what is to come by a clock that was set back is just now", () => equal(ago(3_600_000, 0), "just now"));
});
