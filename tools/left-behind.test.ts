import { deepEqual } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { freshNamespace, noNamespaces } from "../test/kit/namespace.ts";
import { missingProgram } from "../test/kit/programs.ts";
import { ownTraces } from "./left-behind.ts";

const skip = noNamespaces || missingProgram("nft") || missingProgram("ip");

test("tables and interfaces of ours are seen, others are not", { skip }, () => {
  const { name } = freshNamespace();
  const run = (...words: string[]) => execFileSync("ip", ["netns", "exec", name, ...words]);
  deepEqual(ownTraces(name), new Set());
  run("nft", "add table inet cattail; add table arp cattail; add table ip calico; add table inet filter");
  run("ip", "link", "add", "cali123", "type", "veth", "peer", "name", "other");
  const seen = ["table inet cattail", "table arp cattail", "table ip calico", "interface cali123"];
  deepEqual(ownTraces(name), new Set(seen));
});
