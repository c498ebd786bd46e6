// Rulesets in a kernel: every transaction of a random history is taken by nft, and what is in the kernel afterwards is what one
// transaction from nothing would have made.
import { equal } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import fc from "fast-check";
import { openSetElements } from "../../src/base/linux/kernel.ts";
import { NodePolicy } from "../../src/calico/policy/index.ts";
import { dataplaneSettings, RulesetBuilder } from "../../src/node/dataplane/index.ts";
import { setChanges } from "../../src/node/dataplane/nft/element-keys.ts";
import { readTable } from "../../src/node/dataplane/nft/kernel-table.ts";
import { freshNamespace, noNamespaces } from "../kit/namespace.ts";
import { node, policyChange } from "../kit/policy-history.ts";

const hasNft = spawnSync("nft", ["--version"]).status === 0;
const skip = noNamespaces || (hasNft ? false : "needs nft");

const options = dataplaneSettings({ raw: () => undefined });

test("a history of small transactions ends in the ruleset that one large transaction makes", { skip }, () => {
  const [step, whole] = [freshNamespace().name, freshNamespace().name];
  fc.assert(
    fc.property(fc.array(fc.array(policyChange, { minLength: 1, maxLength: 6 }), { maxLength: 8 }), (history) => {
      const index = new NodePolicy(node);
      const builder = new RulesetBuilder(options);
      for (const batch of history) {
        for (const [path, value] of batch) index.update(path, value === null ? undefined : JSON.stringify(value));
        builder.take(index.takeChanges());
        apply(builder, step, { elementsWithoutNft: true });
      }
      apply(builder, step);
      // What the kernel tells of it is recognised as what it was made of: nothing is left to be done.
      const listed = list(step, ["--json", "--numeric", "list", "table", "inet", "cattail"]);
      builder.ruleset.adopt(readTable(JSON.parse(listed)));
      equal(builder.ruleset.transaction()?.text, undefined);
      nft(whole, "add table inet cattail\ndelete table inet cattail\n");
      builder.ruleset.startAgain();
      apply(builder, whole);
      equal(listing(step), listing(whole));
      // Whatever is there, all of its chains and maps can be made anew in one transaction.
      builder.ruleset.adopt(readTable(JSON.parse(listed)), { isRemade: true });
      apply(builder, step);
      equal(listing(step), listing(whole));
      nft(step, "delete table inet cattail\n");
    }),
    { numRuns: 25 },
  );
});

test("what nobody asked for is left alone: other tables stay as they are", { skip }, () => {
  const { name } = freshNamespace();
  nft(name, "table inet others { chain c { counter drop; }; }\n");
  apply(new RulesetBuilder(options), name);
  equal(list(name, ["list", "tables"]), "table inet others\ntable inet cattail\n");
});

function apply(builder: RulesetBuilder, namespace: string, { elementsWithoutNft = false } = {}): void {
  // Rules and elements have transactions of their own (steps.ts).
  for (let steps = 0; steps < 8; steps += 1) {
    const transaction = builder.ruleset.transaction();
    if (transaction === undefined) return;
    const changes = transaction.elements === undefined ? undefined : setChanges(transaction.elements);
    if (elementsWithoutNft && changes !== undefined) {
      using sets = openSetElements({ namespace: `/run/netns/${namespace}` });
      equal(sets.change({ family: "inet", name: "cattail" }, changes), undefined);
    } else nft(namespace, transaction.text);
    transaction.taken();
  }
  throw new Error("there is no end of transactions");
}

function nft(namespace: string, input: string): void {
  const { status, stderr } = spawnSync("ip", ["netns", "exec", namespace, "nft", "-f", "-"], {
    input,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`nft refuses it: ${stderr}\n${input}`);
}

function list(namespace: string, words: readonly string[]): string {
  return spawnSync("ip", ["netns", "exec", namespace, "nft", ...words], { encoding: "utf8" }).stdout;
}

/** Chains, sets and maps in the order of their names, without how often a set was made: in the kernel they stand in that of their making. */
function listing(namespace: string): string {
  const text = list(namespace, ["--stateless", "list", "table", "inet", "cattail"]);
  return text
    .replace(/\b(set\d-\w+|\w+[46])\.\d+\b/g, "$1")
    .replace(/#[0-9a-f]{10}"/g, '#"')
    .split(/\n(?=\t(?:chain|set|map) )/)
    .map((block) => block.trimEnd().replace(/\n}$/, ""))
    .sort()
    .join("\n");
}
