// A JSON patch, operation by operation.
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { jsonPatched } from "./json-patch.ts";

const pool = { spec: { cidr: "10.0.0.0/16", uses: ["a", "b"] }, metadata: { labels: { "a/b": "1", "c~d": "2" } } };

const done: { name: string; patch: unknown[]; at: (object: typeof pool) => unknown; is: unknown }[] = [
  {
    name: "add sets a member",
    patch: [{ op: "add", path: "/spec/x", value: 1 }],
    at: ({ spec }) => spec,
    is: { ...pool.spec, x: 1 },
  },
  {
    name: "add replaces a member",
    patch: [{ op: "add", path: "/spec/cidr", value: 1 }],
    at: ({ spec }) => spec.cidr,
    is: 1,
  },
  {
    name: "add inserts in a list",
    patch: [{ op: "add", path: "/spec/uses/1", value: "x" }],
    at: ({ spec }) => spec.uses,
    is: ["a", "x", "b"],
  },
  {
    name: "add at the end of a list",
    patch: [{ op: "add", path: "/spec/uses/-", value: "x" }],
    at: ({ spec }) => spec.uses,
    is: ["a", "b", "x"],
  },
  {
    name: "remove of a member",
    patch: [{ op: "remove", path: "/spec/uses" }],
    at: ({ spec }) => spec,
    is: { cidr: "10.0.0.0/16" },
  },
  {
    name: "remove from a list",
    patch: [{ op: "remove", path: "/spec/uses/0" }],
    at: ({ spec }) => spec.uses,
    is: ["b"],
  },
  {
    name: "replace in a list",
    patch: [{ op: "replace", path: "/spec/uses/0", value: "x" }],
    at: ({ spec }) => spec.uses,
    is: ["x", "b"],
  },
  {
    name: "move",
    patch: [{ op: "move", from: "/spec/uses/0", path: "/spec/uses/1" }],
    at: ({ spec }) => spec.uses,
    is: ["b", "a"],
  },
  {
    name: "copy",
    patch: [{ op: "copy", from: "/spec/uses/0", path: "/spec/uses/-" }],
    at: ({ spec }) => spec.uses,
    is: ["a", "b", "a"],
  },
  {
    name: "test that holds",
    patch: [{ op: "test", path: "/spec/uses", value: ["a", "b"] }],
    at: (object) => object,
    is: pool,
  },
  {
    name: "names with slash and tilde",
    patch: [
      { op: "remove", path: "/metadata/labels/a~1b" },
      { op: "replace", path: "/metadata/labels/c~0d", value: "3" },
    ],
    at: ({ metadata }) => metadata.labels,
    is: { "c~d": "3" },
  },
  {
    name: "replace of the whole",
    patch: [{ op: "replace", path: "", value: { a: 1 } }],
    at: (object) => object,
    is: { a: 1 },
  },
];
for (const { name, patch, at, is } of done) {
  test(`json patch: ${name}`, () => deepEqual(at(jsonPatched(pool, patch) as typeof pool), is));
}

const refused: { name: string; patch: unknown; says: RegExp }[] = [
  { name: "an object", patch: {}, says: /list of operations/ },
  { name: "an unknown operation", patch: [{ op: "set", path: "/a" }], says: /operation 1: op "set" is none of/ },
  { name: "no path", patch: [{ op: "remove" }], says: /path must be given/ },
  { name: "a path without a slash", patch: [{ op: "remove", path: "spec" }], says: /must begin with/ },
  { name: "add without a value", patch: [{ op: "add", path: "/a" }], says: /needs a value/ },
  { name: "remove of nothing", patch: [{ op: "remove", path: "/spec/nope" }], says: /\/spec\/nope is not there/ },
  { name: "replace of nothing", patch: [{ op: "replace", path: "/spec/nope", value: 1 }], says: /is not there/ },
  { name: "below what is not there", patch: [{ op: "add", path: "/no/pe", value: 1 }], says: /\/no is not there/ },
  { name: "beyond a list", patch: [{ op: "add", path: "/spec/uses/3", value: 1 }], says: /has 2 elements/ },
  { name: "a number with a zero in front", patch: [{ op: "remove", path: "/spec/uses/01" }], says: /is not there/ },
  { name: "inside a text", patch: [{ op: "add", path: "/spec/cidr/x", value: 1 }], says: /no object and no list/ },
  { name: "into itself", patch: [{ op: "move", from: "/spec", path: "/spec/x" }], says: /into itself/ },
  {
    name: "test that fails",
    patch: [{ op: "test", path: "/spec/cidr", value: "x" }],
    says: /test failed: \/spec\/cidr is "10/,
  },
  {
    name: "the second of two",
    patch: [
      { op: "add", path: "/a", value: 1 },
      { op: "remove", path: "/b" },
    ],
    says: /operation 2/,
  },
  { name: "the prototype of objects", patch: [{ op: "remove", path: "/__proto__/toString" }], says: /is not there/ },
];
for (const { name, patch, says } of refused) {
  test(`json patch refuses: ${name}`, () => throws(() => jsonPatched(pool, patch), says));
}

test("json patch: the object that was given stays as it is", () => {
  const before = JSON.stringify(pool);
  jsonPatched(pool, [
    { op: "remove", path: "/spec/uses/0" },
    { op: "add", path: "/spec/__proto__", value: { x: 1 } },
  ]);
  equal(JSON.stringify(pool), before);
  equal(Object.hasOwn({}, "x"), false);
});
