import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { parseJson } from "../../../base/lib/index.ts";
import { FieldError, type IntegerRange, int32, int64, uint16, uint32, uint64, type WideRange } from "./read-json.ts";
import { integer, list, map, readSchema, struct, text } from "./schema.ts";

const schema = struct({ names: list(text()), labels: map(text()), nested: list(map(text())) });

test("lists and maps of text are read, and stay themselves", () => {
  const value = { names: ["a", ""], labels: { a: "b" }, nested: [{}, { c: "d" }] };
  const read = readSchema(schema, value, "spec");
  deepEqual(read, value);
  equal(read.labels, value.labels);
  equal(read.names, value.names);
});

const wrong: { name: string; value: unknown; path: string; rule: RegExp }[] = [
  { name: "a number in a list", value: { names: ["a", 1] }, path: "spec.names[1]", rule: /expected string/ },
  { name: "a hole in a list", value: { names: [undefined] }, path: "spec.names[0]", rule: /expected string/ },
  { name: "text for a list", value: { names: "a" }, path: "spec.names", rule: /expected array/ },
  { name: "a map for a list", value: { names: {} }, path: "spec.names", rule: /expected array/ },
  { name: "a number in a map", value: { labels: { a: "b", c: 1 } }, path: "spec.labels.c", rule: /expected string/ },
  { name: "a list for a map", value: { labels: [] }, path: "spec.labels", rule: /expected record/ },
  { name: "text for a map", value: { labels: "a" }, path: "spec.labels", rule: /expected record/ },
  { name: "deep inside", value: { nested: [{}, { c: {} }] }, path: "spec.nested[1].c", rule: /expected string/ },
];
for (const { name, value, path, rule } of wrong) {
  test(`${name} is named by its path`, () => {
    throws(
      () => readSchema(schema, value, "spec"),
      (error) => error instanceof FieldError && error.message.startsWith(path) && rule.test(error.message),
    );
  });
}

const widths: { range: IntegerRange | WideRange; name: string; good: string[]; bad: string[] }[] = [
  { name: "uint16", range: uint16, good: ["0", "65535"], bad: ["-1", "65536"] },
  { name: "int32", range: int32, good: ["-2147483648", "2147483647"], bad: ["-2147483649", "2147483648"] },
  { name: "uint32", range: uint32, good: ["0", "4294967295"], bad: ["-1", "4294967296"] },
  {
    name: "int64",
    range: int64,
    good: ["0", "-9223372036854775808", "9223372036854775807", "9007199254740993"],
    bad: ["-9223372036854775809", "9223372036854775808"],
  },
  { name: "uint64", range: uint64, good: ["0", "18446744073709551615"], bad: ["-1", "18446744073709551616"] },
];
for (const { name, range, good, bad } of widths) {
  // Which of the two ranges it is decides the type alone.
  const whole = integer(range as WideRange);
  test(`an integer of Go's ${name} is written as it was read, and one beyond is refused by its range`, () => {
    for (const digits of good) equal(whole.go.write(whole.read(parseJson(digits))), digits);
    const rule = `must be a whole number from ${range.min} to ${range.max}`;
    for (const value of [...bad, "99999999999999999999", "0.5", "1e30", '"1"', "true", "[]"]) {
      throws(() => whole.read(parseJson(value)), { message: rule }, value);
    }
  });
}
