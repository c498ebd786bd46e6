import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import type { JsonRecord } from "../../base/lib/index.ts";
import { applyPatch } from "./merge-patch.ts";

// The shapes of RFC 7396's own examples, below metadata.
const cases: { name: string; target: unknown; patch: JsonRecord; result: unknown }[] = [
  { name: "a field is replaced", target: { a: "b" }, patch: { a: "c" }, result: { a: "c" } },
  { name: "a field is added", target: { a: "b" }, patch: { b: "c" }, result: { a: "b", b: "c" } },
  { name: "null removes", target: { a: "b", b: "c" }, patch: { a: null }, result: { b: "c" } },
  { name: "null for what is not there is nothing", target: { a: "b" }, patch: { c: null }, result: { a: "b" } },
  { name: "lists are replaced", target: { a: ["b"] }, patch: { a: ["c", "d"] }, result: { a: ["c", "d"] } },
  { name: "an object takes a text's place", target: { a: "b" }, patch: { a: { b: "c" } }, result: { a: { b: "c" } } },
  {
    name: "objects are merged, at every depth",
    target: { a: { b: { c: 1, d: 2 } } },
    patch: { a: { b: { d: null, e: 3 } } },
    result: { a: { b: { c: 1, e: 3 } } },
  },
  { name: "null within a new object is left out", target: {}, patch: { a: { b: null } }, result: { a: {} } },
];
for (const { name, target, patch, result } of cases) {
  test(`patch: ${name}`, () => {
    const value = { metadata: target, spec: { order: 1 } };
    const before = structuredClone(value);
    deepEqual(applyPatch(value, { metadata: patch }), { metadata: result, spec: { order: 1 } });
    deepEqual(value, before);
  });
}

test("patch: a field called __proto__ is a field", () => {
  const patch = JSON.parse('{"__proto__": {"polluted": true}}');
  const patched = applyPatch({}, { status: patch });
  deepEqual(Object.keys(Object(patched.status)), ["__proto__"]);
  equal(Object({}).polluted, undefined);
});

test("patch: one that is nested too deep is refused", () => {
  const deep = JSON.parse(`${'{"a":'.repeat(1000)}1${"}".repeat(1000)}`);
  throws(() => applyPatch({}, { metadata: deep }), { code: "invalid" });
});
