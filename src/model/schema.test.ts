import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { FieldError } from "./read-json.ts";
import { list, map, readSchema, struct, text } from "./schema.ts";

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
