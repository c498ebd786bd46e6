import { equal, throws } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseLabelSelector } from "./label-selector.ts";

const labels = { app: "web", "example.com/tier": "front", empty: "", cpus: "12", negative: "-3", odd: 5 };
// What a real API server selects is in test/system/datastore-contract-narrowing.ts; these are its corners.
const cases: { selector: string; selects: boolean }[] = [
  { selector: "", selects: true },
  { selector: "  ", selects: true },
  { selector: "app=web", selects: true },
  { selector: " app = web ", selects: true },
  { selector: "app==web", selects: true },
  { selector: "app=api", selects: false },
  { selector: "app!=api", selects: true },
  { selector: "none!=api", selects: true },
  { selector: "none=", selects: false },
  { selector: "empty=", selects: true },
  { selector: "empty", selects: true },
  { selector: "!empty", selects: false },
  { selector: "! none", selects: true },
  { selector: "example.com/tier=front", selects: true },
  { selector: "app in (api,web)", selects: true },
  { selector: "app in (api)", selects: false },
  { selector: "app notin (api)", selects: true },
  { selector: "none notin (api)", selects: true },
  { selector: "none in (api,)", selects: false },
  { selector: "empty in (api,)", selects: true },
  { selector: "cpus>11,cpus<13", selects: true },
  { selector: "cpus>12", selects: false },
  { selector: "app>1", selects: false },
  { selector: "none<1", selects: false },
  { selector: "app=web,!none,cpus in (12, 13)", selects: true },
  { selector: "app=web,none", selects: false },
  { selector: "constructor", selects: false },
  { selector: "odd", selects: false },
];
for (const { selector, selects } of cases) {
  test(`"${selector}" ${selects ? "selects" : "does not select"}`, () =>
    equal(parseLabelSelector(selector)(labels), selects));
}

const refused = [
  "=",
  "a=b=c",
  "a = = b",
  "a in b",
  "a in (b",
  "a,,b",
  "a b",
  "a>b",
  "a in ((b))",
  "-a",
  "a=b,",
  "ä",
  `a${"b".repeat(10_000)}`,
];
for (const selector of refused) {
  test(`"${selector.slice(0, 20)}" is no selector`, () =>
    throws(() => parseLabelSelector(selector), { code: "invalid", name: "DatastoreError" }));
}

test("whatever the text is, it is a selector or it is refused", () => {
  const piece = fc.constantFrom("a", "b-1", "x/y", " ", ",", "(", ")", "=", "!", "in", "notin", ">", "<", "1", "é");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      try {
        equal(typeof parseLabelSelector(pieces.join(""))(labels), "boolean");
      } catch (error) {
        equal((error as { code?: string }).code, "invalid");
      }
    }),
  );
});
