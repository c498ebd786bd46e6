import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ConvertedKv } from "../convert/index.ts";
import { type Layer, StoredOverView } from "./stored-over-view.ts";

const kv = (path: string, value: string | undefined): ConvertedKv => ({
  path,
  value,
  revision: value ?? "",
  v3ResourceVersion: "",
});
const kindOf = { stored: "WorkloadEndpoint", view: "Pod" } as const;

type Step = { layer: Layer; isSet: boolean; value?: string | undefined; sent: (string | undefined)[] };
const tables: { name: string; steps: Step[] }[] = [
  {
    name: "the stored one wins, and the view is sent again when it goes",
    steps: [
      { layer: "view", isSet: true, value: "v1", sent: ["v1"] },
      { layer: "stored", isSet: true, value: "s1", sent: ["s1"] },
      { layer: "view", isSet: true, value: "v2", sent: [] },
      { layer: "stored", isSet: false, sent: ["v2"] },
      { layer: "view", isSet: false, sent: [undefined] },
    ],
  },
  {
    name: "a stored one that has nothing to say hides the view",
    steps: [
      { layer: "view", isSet: true, value: "v1", sent: ["v1"] },
      { layer: "stored", isSet: true, value: undefined, sent: [undefined] },
      { layer: "view", isSet: true, value: "v2", sent: [] },
      { layer: "stored", isSet: false, sent: ["v2"] },
    ],
  },
  {
    name: "a view that goes behind a stored one is not missed",
    steps: [
      { layer: "stored", isSet: true, value: "s1", sent: ["s1"] },
      { layer: "view", isSet: true, value: "v1", sent: [] },
      { layer: "view", isSet: false, sent: [] },
      { layer: "stored", isSet: false, sent: [undefined] },
    ],
  },
  {
    name: "what is there without the object stays when it goes: the default profile",
    steps: [
      { layer: "stored", isSet: true, value: "always", sent: ["always"] },
      { layer: "stored", isSet: false, value: "always", sent: ["always"] },
    ],
  },
];
for (const { name, steps } of tables) {
  test(`stored over view: ${name}`, () => {
    const claims = new StoredOverView();
    const sent = steps.map(({ layer, isSet, value }) =>
      claims.take([kv("/a", value)], { kind: kindOf[layer], layer, isSet }).map((each) => each.value),
    );
    deepEqual(
      sent,
      steps.map((step) => step.sent),
    );
  });
}

test("stored over view: whatever happens, what was sent last of a path is what its objects say", () => {
  const step = fc.record({
    path: fc.constantFrom("/a", "/b"),
    layer: fc.constantFrom<Layer>("stored", "view"),
    value: fc.option(fc.constantFrom("1", "2", "3"), { nil: undefined }),
    isSet: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const claims = new StoredOverView();
      const sent = new Map<string, string | undefined>();
      const there = new Map<
        string,
        { stored?: { value: string | undefined } | undefined; view?: string | undefined }
      >();
      for (const { path, layer, value, isSet } of steps) {
        const now = isSet ? value : undefined;
        for (const each of claims.take([kv(path, now)], { kind: kindOf[layer], layer, isSet })) {
          sent.set(each.path, each.value);
        }
        const known = there.get(path) ?? {};
        if (layer === "stored") there.set(path, { ...known, stored: isSet ? { value } : undefined });
        else there.set(path, { ...known, view: now });
      }
      for (const [path, { stored, view }] of there) {
        deepEqual(sent.get(path), stored === undefined ? view : stored.value, path);
      }
      const shown = [...there.values()].filter(({ stored, view }) => stored === undefined && view !== undefined);
      deepEqual(claims.count("Pod"), shown.length);
    }),
  );
});
