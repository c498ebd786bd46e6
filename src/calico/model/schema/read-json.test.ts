import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import {
  cleanJson,
  FieldError,
  type JsonRecord,
  listAt,
  recordAt,
  recordOf,
  stringAt,
  stringListAt,
  stringMapAt,
} from "./read-json.ts";

const read: { name: string; value: unknown; expected: unknown }[] = [
  { name: "a string", value: stringAt({ a: "b" }, "a", ""), expected: "b" },
  { name: "null as absent", value: stringAt({ a: null }, "a", ""), expected: undefined },
  { name: "inherited members as absent", value: stringAt({}, "toString", ""), expected: undefined },
  { name: "a missing list as empty", value: listAt({}, "a", ""), expected: [] },
  { name: "a missing object as empty", value: recordAt({}, "a", ""), expected: {} },
  { name: "strings", value: stringListAt({ a: ["b"] }, "a", ""), expected: ["b"] },
  { name: "labels", value: stringMapAt({ a: { b: "c" } }, "a", ""), expected: { b: "c" } },
  { name: "a clean copy", value: cleanJson({ a: null, b: [null, { c: 1 }] }), expected: { b: [null, { c: 1 }] } },
];
for (const { name, value, expected } of read) test(`reads ${name}`, () => deepEqual(value, expected));

const hostile = JSON.parse('{"a":{"__proto__":"x"},"b":1e999}') as JsonRecord;
let nested: unknown = "bottom";
for (let depth = 0; depth < 100_000; depth++) nested = [nested];

const refused: { name: string; field: string; read: () => unknown }[] = [
  { name: "a number for a string", field: "spec.a", read: () => stringAt({ a: 1 }, "a", "spec") },
  { name: "an object for a list", field: "a", read: () => listAt({ a: {} }, "a", "") },
  { name: "a list for an object", field: "a", read: () => recordAt({ a: [] }, "a", "") },
  { name: "a number among strings", field: "a[1]", read: () => stringListAt({ a: ["b", 1] }, "a", "") },
  { name: "a number among labels", field: 'a["b"]', read: () => stringMapAt({ a: { b: 1 } }, "a", "") },
  { name: "a label that would set the prototype", field: "a", read: () => stringMapAt(hostile, "a", "") },
  { name: "a key that would set the prototype", field: "a", read: () => cleanJson({ a: hostile.a }) },
  { name: "nothing at all", field: "", read: () => recordOf(undefined, "") },
];
for (const { name, field, read } of refused) {
  test(`refuses ${name}`, () => throws(read, (error) => error instanceof FieldError && error.field === field));
}

test("refuses deep nesting before it can exhaust the stack", () => {
  throws(() => cleanJson(nested), FieldError);
  equal(Array.isArray(nested), true);
});
