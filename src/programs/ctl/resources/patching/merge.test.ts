// Patches that are objects. The rows of a merge patch are those of RFC 7396's appendix, told in our own values.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { mergePatched, strategicPatched } from "./merge.ts";

const rows: { name: string; target: unknown; patch: unknown; is: unknown }[] = [
  { name: "a member is replaced", target: { a: 1 }, patch: { a: 2 }, is: { a: 2 } },
  { name: "a member is added", target: { a: 1 }, patch: { b: 2 }, is: { a: 1, b: 2 } },
  { name: "null removes", target: { a: 1, b: 2 }, patch: { a: null }, is: { b: 2 } },
  { name: "null removes what is not there", target: { a: 1 }, patch: { b: null }, is: { a: 1 } },
  { name: "a list is replaced", target: { a: [1, 2] }, patch: { a: [3] }, is: { a: [3] } },
  { name: "a list by an object", target: { a: [1] }, patch: { a: { b: 1 } }, is: { a: { b: 1 } } },
  { name: "objects are merged", target: { a: { b: 1, c: 2 } }, patch: { a: { c: 3 } }, is: { a: { b: 1, c: 3 } } },
  { name: "nulls of a new object are none", target: {}, patch: { a: { b: { c: null } } }, is: { a: { b: {} } } },
  { name: "nulls in a list stay", target: {}, patch: { a: [null] }, is: { a: [null] } },
];
for (const { name, target, patch, is } of rows) {
  test(`merge patch: ${name}`, () => deepEqual(mergePatched(target, patch), is));
  test(`strategic patch: ${name}`, () => deepEqual(strategicPatched(target, patch), is));
}

test("strategic patch: $patch replace stands for the whole object", () => {
  deepEqual(strategicPatched({ labels: { a: "1", b: "2" } }, { labels: { $patch: "replace", c: "3" } }), {
    labels: { c: "3" },
  });
});

test("strategic patch: $patch delete empties it", () => {
  deepEqual(strategicPatched({ labels: { a: "1" }, x: 1 }, { labels: { $patch: "delete" } }), { labels: {}, x: 1 });
});

test("a merge patch knows no directives", () => {
  deepEqual(mergePatched({ a: { b: 1 } }, { a: { $patch: "delete" } }), { a: { b: 1, $patch: "delete" } });
});

test("merge patch: applied twice it changes nothing more, and nothing it does not name", () => {
  const json = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.jsonValue({ maxDepth: 2 }));
  fc.assert(
    fc.property(json, json, (target, patch) => {
      const once = mergePatched(target, patch);
      deepEqual(mergePatched(once, patch), once);
      for (const [name, value] of Object.entries(target)) {
        if (!Object.hasOwn(patch, name)) deepEqual((once as Record<string, unknown>)[name], value);
      }
    }),
  );
});
