// Slips, and names that only look like them.
import { equal } from "node:assert/strict";
import { test } from "node:test";
import { nearName } from "./near-names.ts";

const rows: { missing: string; known: string[]; meant: string | undefined; name: string }[] = [
  { name: "a letter is missing", missing: "defalt-ipv4", known: ["default-ipv4"], meant: "default-ipv4" },
  { name: "a letter is too many", missing: "defaullt", known: ["default"], meant: "default" },
  { name: "a letter is wrong", missing: "defaalt", known: ["default"], meant: "default" },
  { name: "two letters changed places", missing: "defualt", known: ["default"], meant: "default" },
  { name: "a dash is missing", missing: "ipv4ippool-1", known: ["ipv4-ippool-1"], meant: "ipv4-ippool-1" },
  { name: "the next of a series", missing: "pool-b", known: ["pool-a"], meant: undefined },
  { name: "the next number", missing: "ipv4-ippool-2", known: ["ipv4-ippool-1"], meant: undefined },
  { name: "another node", missing: "node2", known: ["node1"], meant: undefined },
  { name: "a last letter of a word", missing: "weba", known: ["webb"], meant: undefined },
  { name: "short names", missing: "x", known: ["a", "b", "xy"], meant: undefined },
  { name: "short words", missing: "n1-k8s-none-eth0", known: ["n1-k8s-done-eth0"], meant: undefined },
  { name: "other words", missing: "kns.none", known: ["kns.prod", "kns.default"], meant: undefined },
  { name: "the name itself is no suggestion", missing: "default", known: ["default"], meant: undefined },
  { name: "nothing is known", missing: "default", known: [], meant: undefined },
];
for (const { name, missing, known, meant } of rows) {
  test(`near names: ${name} (${missing})`, () => equal(nearName(missing, known), meant));
}
