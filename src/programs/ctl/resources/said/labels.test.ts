// What label does to an object's labels, and what it refuses.
import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import { v3Version } from "../../../../calico/resources/index.ts";
import { readLabels, relabelled } from "./labels.ts";

const node = {
  kind: "Node",
  apiVersion: v3Version,
  metadata: { name: "n1", labels: { rack: "r1" } },
  spec: {},
} as const;
const plain = { removes: false, overwrites: false };

const rows: { name: string; words: string[]; options?: Partial<typeof plain>; labels: object; says: string[] }[] = [
  {
    name: "a new one",
    words: ["zone=a"],
    labels: { rack: "r1", zone: "a" },
    says: ["Successfully set label zone on node n1"],
  },
  {
    name: "an empty one",
    words: ["zone="],
    labels: { rack: "r1", zone: "" },
    says: ["Successfully set label zone on node n1"],
  },
  {
    name: "the same again",
    words: ["rack=r1"],
    labels: { rack: "r1" },
    says: ["Successfully updated label rack on node n1"],
  },
  {
    name: "another value",
    words: ["rack=r2"],
    options: { overwrites: true },
    labels: { rack: "r2" },
    says: ["Successfully updated label rack on node n1"],
  },
  {
    name: "the first = ends the key",
    words: ["k=a=b"],
    labels: { rack: "r1", k: "a=b" },
    says: ["Successfully set label k on node n1"],
  },
  {
    name: "several",
    words: ["a=1", "b=2"],
    labels: { rack: "r1", a: "1", b: "2" },
    says: ["Successfully set label a on node n1", "Successfully set label b on node n1"],
  },
  {
    name: "one less",
    words: ["rack"],
    options: { removes: true },
    labels: {},
    says: ["Successfully removed label rack from node n1"],
  },
];
for (const { name, words, options = {}, labels, says } of rows) {
  test(`label: ${name}`, () => {
    const all = { ...plain, ...options };
    const { object, says: said } = relabelled(node, readLabels(words, all), { what: "node n1", ...all });
    deepEqual({ labels: object.metadata.labels, said }, { labels, said: says });
  });
}

const refusals: { name: string; words: string[]; options?: Partial<typeof plain>; says: string }[] = [
  { name: "no value", words: ["novalue"], says: "invalid label novalue" },
  {
    name: "another value without --overwrite",
    words: ["rack=r2"],
    says: "failed to update label of node n1, key rack is already present. please use '--overwrite' to set a new value",
  },
  {
    name: "nothing to remove",
    words: ["zone"],
    options: { removes: true },
    says: "cannot remove label of node n1, key zone does not exist",
  },
];
for (const { name, words, options = {}, says } of refusals) {
  test(`label refuses: ${name}`, () => {
    const all = { ...plain, ...options };
    throws(() => relabelled(node, readLabels(words, all), { what: "node n1", ...all }), { message: says });
  });
}
