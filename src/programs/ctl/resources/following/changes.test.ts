// What a watcher says of lists and events, and how it is written.
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { type ResourceEvent, type V3Object, v3Version } from "../../../../calico/resources/index.ts";
import { readOutputFormat } from "../../output/output-format.ts";
import { changeWriter } from "./change-text.ts";
import { afterEvent, afterList, type Known } from "./changes.ts";

const pool = (name: string, resourceVersion = "1"): V3Object => ({
  kind: "IPPool",
  apiVersion: v3Version,
  metadata: { name, resourceVersion },
  spec: { cidr: "10.0.0.0/16", nodeSelector: "all()" },
});
const nothing: Known = new Map();
const names = (changes: readonly { type: string; object: V3Object }[]) =>
  changes.map(({ type, object }) => `${type} ${object.metadata.name}`);

test("a list after another one says what is new, different and gone, and nothing of the rest", () => {
  const first = afterList(nothing, [pool("a"), pool("b"), pool("c")]);
  deepEqual(names(first.changes), ["ADDED a", "ADDED b", "ADDED c"]);
  const second = afterList(first.known, [pool("a"), pool("b", "2"), pool("d")]);
  deepEqual(names(second.changes), ["DELETED c", "MODIFIED b", "ADDED d"]);
});

test("events: added, changed, gone; what cannot be read is none of them", () => {
  const events: ResourceEvent[] = [
    { is: "set", object: pool("a") },
    { is: "bookmark", revision: "5" },
    { is: "set", object: pool("a", "2") },
    { is: "unreadable", id: { namespace: "", name: "a" }, problem: "x" },
    { is: "delete", id: { namespace: "", name: "a" } },
    { is: "delete", id: { namespace: "", name: "a" } },
  ];
  let known = nothing;
  const said: string[] = [];
  for (const event of events) {
    const after = afterEvent(known, event);
    known = after.known;
    said.push(...names(after.changes));
  }
  deepEqual(said, ["ADDED a", "MODIFIED a", "DELETED a"]);
});

const context = { defaultAsNumber: undefined };
const added = [{ type: "ADDED", object: pool("a") }] as const;

test("rows stand under their headings, which are written once", () => {
  const write = changeWriter("IPPool", readOutputFormat("ps"), false);
  equal(write(added, context), "EVENT      NAME   CIDR          SELECTOR\nADDED      a      10.0.0.0/16   all()\n");
  equal(write([{ type: "DELETED", object: pool("a") }], context), "DELETED    a      10.0.0.0/16   all()\n");
});

test("yaml: a document for each change", () => {
  const text = changeWriter("IPPool", readOutputFormat("yaml"), false)(added, context);
  equal(text.startsWith("---\nobject:\n  apiVersion: projectcalico.org/v3\n"), true, text);
  equal(text.endsWith("type: ADDED\n"), true, text);
});

test("json: a line for each change", () => {
  const text = changeWriter("IPPool", readOutputFormat("json"), false)([...added, ...added], context);
  deepEqual(
    text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).object.metadata.name),
    ["a", "a"],
  );
});

test("names, and headings of one's own", () => {
  equal(changeWriter("IPPool", readOutputFormat("name"), false)(added, context), "ADDED ippool/a\n");
  const write = changeWriter("IPPool", readOutputFormat("custom-columns=CIDR"), false);
  equal(write(added, context), "EVENT      CIDR\nADDED      10.0.0.0/16\n");
  throws(() => changeWriter("IPPool", readOutputFormat("custom-columns=NO"), false), /unknown heading NO, valid/);
  throws(() => changeWriter("IPPool", readOutputFormat("go-template={{.}}"), false), /cannot be used with --watch/);
});
