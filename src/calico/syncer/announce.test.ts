import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { createAnnouncer } from "./announce.ts";

const value = (revision: string, text = "v") => ({ path: "/k", value: text, revision, v3ResourceVersion: "" });
const invalid = (revision: string) => ({ ...value(revision), value: undefined, isInvalid: true });
const gone = { path: "/k", value: undefined, revision: "", v3ResourceVersion: "" };

/** Each step's outcome as type, revision and whether there is a value; "-" is nothing to say. */
const cases: {
  name: string;
  steps: Parameters<ReturnType<typeof createAnnouncer>["announce"]>[0][];
  said: string[];
}[] = [
  { name: "a first value is new", steps: [value("1")], said: ["1 @1 value"] },
  {
    name: "a changed revision is an update, even of an equal value",
    steps: [value("1"), value("2")],
    said: ["1 @1 value", "2 @2 value"],
  },
  { name: "the same revision is nothing", steps: [value("1"), value("1", "other")], said: ["1 @1 value", "-"] },
  { name: "a deletion loses its revision", steps: [value("1"), gone], said: ["1 @1 value", "3 @ none"] },
  { name: "a deletion of what is unknown is nothing", steps: [gone], said: ["-"] },
  {
    name: "after a deletion all is new again",
    steps: [value("1"), gone, value("1")],
    said: ["1 @1 value", "3 @ none", "1 @1 value"],
  },
  { name: "an invalid first value is new, without a value", steps: [invalid("1")], said: ["1 @1 none"] },
  {
    name: "good, invalid, good again: updates all the way",
    steps: [value("1"), invalid("2"), value("3")],
    said: ["1 @1 value", "2 @2 none", "2 @3 value"],
  },
  {
    name: "an invalid value is known, so that its deletion is told",
    steps: [invalid("1"), gone],
    said: ["1 @1 none", "3 @ none"],
  },
];
for (const { name, steps, said } of cases) {
  test(`announcer: ${name}`, () => {
    const announcer = createAnnouncer();
    const told = steps.map((step) => {
      const update = announcer.announce(step);
      if (update === undefined) return "-";
      return `${update.type} @${update.revision} ${update.value === undefined ? "none" : "value"}`;
    });
    deepEqual(told, said);
  });
}

test("the announcer knows what is announced", () => {
  const announcer = createAnnouncer();
  announcer.announce(value("1"));
  announcer.announce({ ...value("1"), path: "/other" });
  announcer.announce(gone);
  equal(announcer.size, 1);
  deepEqual([...announcer.paths()], ["/other"]);
});
