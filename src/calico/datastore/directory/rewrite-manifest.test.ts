// Only the object that changes is written anew: all other bytes of a file stay, and so do comments.
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { JsonRecord } from "../../../base/lib/index.ts";
import { readManifests } from "./read-manifests.ts";
import { inOrderOf, removeObject, replaceObject } from "./rewrite-manifest.ts";

const v3 = "apiVersion: projectcalico.org/v3\n";
const tier = (name: string, more = "") => `${v3}kind: Tier\nmetadata:\n  name: ${name}\nspec:\n  order: 1${more}\n`;

type Case = {
  readonly name: string;
  readonly text: string;
  /** Which object; the first unless told. */
  readonly at?: number;
  readonly spec?: JsonRecord;
  /** Undefined: the file goes. */
  readonly gives: string | undefined;
};

const replacements: (Case & { spec: JsonRecord })[] = [
  { name: "our own form", text: tier("a"), spec: { order: 2 }, gives: tier("a").replace("1", "2") },
  {
    name: "comments in and around it stay",
    text: `# head\n${v3}kind: Tier # the kind\nmetadata: {name: a}\nspec:\n  # why one\n  order: 1 # one\n# tail\n`,
    spec: { order: 2 },
    gives: `# head\n${v3}kind: Tier # the kind\nmetadata: {name: a}\nspec:\n  # why one\n  order: 2 # one\n# tail\n`,
  },
  {
    name: "other documents stay as they are, to the byte",
    text: `---\n# one\nkind:   Tier\n${v3}metadata:   {   name: a }\n---\n${tier("b")}--- # three\n${tier("c", "   # odd")}...\n`,
    at: 1,
    spec: { order: 7 },
    gives: `---\n# one\nkind:   Tier\n${v3}metadata:   {   name: a }\n---\n${tier("b").replace("1", "7")}--- # three\n${tier("c", "   # odd")}...\n`,
  },
  {
    name: "an item of a List",
    text: `apiVersion: v1\nkind: List\nitems:\n  - ${v3}    kind: Tier\n    metadata: {name: a} # first\n  # second\n  - ${v3}    kind: Tier\n    metadata: {name: b}\n    spec: {order: 1}\n`,
    at: 1,
    spec: { order: 2 },
    gives: `apiVersion: v1\nkind: List\nitems:\n  - ${v3}    kind: Tier\n    metadata: {name: a} # first\n  # second\n  - ${v3}    kind: Tier\n    metadata: {name: b}\n    spec: {order: 2}\n`,
  },
  {
    name: "JSON keeps its indentation",
    text: '{\n    "apiVersion": "projectcalico.org/v3",\n    "kind": "Tier",\n    "metadata": {\n        "name": "a"\n    }\n}\n',
    spec: { order: 2n ** 60n },
    gives:
      '{\n    "apiVersion": "projectcalico.org/v3",\n    "kind": "Tier",\n    "metadata": {\n        "name": "a"\n    },\n    "spec": {\n        "order": 1152921504606846976\n    }\n}\n',
  },
  {
    name: "JSON on one line stays on one",
    text: '{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"projectcalico.org/v3","kind":"Tier","metadata":{"name":"a"}}]}',
    spec: {},
    gives:
      '{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"projectcalico.org/v3","kind":"Tier","metadata":{"name":"a"},"spec":{}}]}',
  },
  {
    name: "what it merges from elsewhere in the document is written out",
    text: `apiVersion: v1\nkind: List\nitems:\n  - ${v3}    kind: Tier\n    metadata: {name: a}\n    spec: &s {order: 1}\n  - ${v3}    kind: Tier\n    metadata: {name: b}\n    spec: {<<: *s, defaultAction: Pass}\n`,
    at: 1,
    spec: { order: 3, defaultAction: "Pass" },
    gives: `apiVersion: v1\nkind: List\nitems:\n  - ${v3}    kind: Tier\n    metadata: {name: a}\n    spec: &s {order: 1}\n  - ${v3}    kind: Tier\n    metadata:\n      name: b\n    spec:\n      order: 3\n      defaultAction: Pass\n`,
  },
];
for (const { name, text, at = 0, spec, gives } of replacements) {
  test(`replace: ${name}`, () => {
    const object = readManifests(text).objects[at];
    if (object === undefined) throw new Error("no such object");
    equal(replaceObject(text, object, { ...object.value, spec }), gives);
  });
}

test("replace: a change of what another object is made of leaves the other as it was", () => {
  const text = replacements.at(-1)?.text ?? "";
  const [a, b] = readManifests(text).objects;
  if (a === undefined) throw new Error("no such object");
  const [, after] = readManifests(replaceObject(text, a, { ...a.value, spec: { order: 9 } })).objects;
  deepEqual(after?.value, b?.value);
});

const removals: Case[] = [
  { name: "the only document takes the file with it", text: tier("a"), gives: undefined },
  { name: "also with markers around it", text: `---\n${tier("a")}...\n`, gives: undefined },
  { name: "a comment right above goes with it", text: `# about a\n${tier("a")}`, gives: undefined },
  { name: "a comment of its own stays, and so does the file", text: `# licence\n\n${tier("a")}`, gives: "# licence\n" },
  { name: "the first of two", text: `${tier("a")}---\n# about b\n${tier("b")}`, gives: `---\n# about b\n${tier("b")}` },
  { name: "the last of two", text: `${tier("a", " # x")}---\n${tier("b")}`, at: 1, gives: tier("a", " # x") },
  {
    name: "a document that is none of ours stays",
    text: `apiVersion: apps/v1\nkind: Deployment\n---\n${tier("a")}`,
    gives: "apiVersion: apps/v1\nkind: Deployment\n",
  },
  {
    name: "an item of a List",
    text: `apiVersion: v1\nkind: List\nitems:\n- ${v3}  kind: Tier\n  metadata: {name: a}\n- ${v3}  kind: Tier\n  metadata: {name: b} # b\n`,
    gives: `apiVersion: v1\nkind: List\nitems:\n- ${v3}  kind: Tier\n  metadata: {name: b} # b\n`,
  },
  {
    name: "the last item of a List takes the List with it",
    text: `apiVersion: v1\nkind: List\nitems:\n- ${v3}  kind: Tier\n  metadata: {name: a}\n`,
    gives: undefined,
  },
  {
    name: "an item of a JSON List",
    text: '{"apiVersion":"projectcalico.org/v3","kind":"TierList","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}',
    at: 1,
    gives: '{"apiVersion":"projectcalico.org/v3","kind":"TierList","items":[{"metadata":{"name":"a"}}]}',
  },
];
for (const { name, text, at = 0, gives } of removals) {
  test(`remove: ${name}`, () => {
    const object = readManifests(text).objects[at];
    if (object === undefined) throw new Error("no such object");
    equal(removeObject(text, object), gives);
  });
}

test("fields keep their order, new ones come last", () => {
  equal(
    JSON.stringify(inOrderOf({ c: 1, a: { y: 1, x: 2 }, b: 3 }, { a: { x: 0, y: 0 }, b: 0 })),
    '{"a":{"x":2,"y":1},"b":3,"c":1}',
  );
});

test("of many hand-made documents one is changed or removed, and every other stays byte for byte", () => {
  const styles = [
    (name: string) => tier(name),
    (name: string) => `# about ${name}\nkind: Tier\n${v3}metadata: {name: "${name}"}\nspec:   {order: 1}   # flow\n`,
    (name: string) => `{"apiVersion": "projectcalico.org/v3", "kind": "Tier", "metadata": {"name": "${name}"}}\n`,
    () => "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n# end\n",
  ];
  fc.assert(
    fc.property(fc.array(fc.nat(3), { minLength: 1, maxLength: 6 }), fc.nat(5), fc.nat(100), (picked, which, order) => {
      const parts = picked.map((style, i) => styles[style]?.(`t${i}`) ?? "");
      const text = parts.map((part) => `---\n${part}`).join("");
      const { objects } = readManifests(text);
      const object = objects[which % Math.max(objects.length, 1)];
      if (object === undefined) return;
      const rest = parts.filter((_, i) => i !== object.where.document);
      const changed = replaceObject(text, object, { ...object.value, spec: { order: order + 2 } });
      for (const part of rest) equal(changed.includes(`---\n${part}`), true, changed);
      equal(removeObject(text, object) ?? "", rest.map((part) => `---\n${part}`).join(""));
    }),
    { numRuns: 200 },
  );
});

test("an object that has no place of its own is refused", () => {
  const text = tier("a");
  const [object] = readManifests(text).objects;
  if (object === undefined) throw new Error("no such object");
  throws(
    () => replaceObject(`# x\n${text}`, { ...object, where: { document: 7, path: [] } }, object.value),
    RangeError,
  );
});
