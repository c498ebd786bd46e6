// Which chains of others drop what a node forwards: rulesets as nft and iptables-legacy print them.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { foreignDrops, foreignLegacyDrops, ruleOwners } from "./firewall.ts";

const chain = (policy: string, more: object = {}) => ({
  chain: { family: "ip", table: "filter", name: "FORWARD", type: "filter", hook: "forward", prio: 0, policy, ...more },
});
const rule = (...expr: object[]) => ({ rule: { family: "ip", table: "filter", chain: "FORWARD", expr } });
const counter = { counter: { packets: 0, bytes: 0 } };

const cases: { name: string; entries: object[]; finds: string[] }[] = [
  { name: "nothing", entries: [], finds: [] },
  { name: "a policy that accepts", entries: [chain("accept")], finds: [] },
  { name: "Docker's policy", entries: [chain("drop")], finds: ["its policy is drop"] },
  {
    name: "the same, with a jump to Calico's chain",
    entries: [chain("drop"), rule({ jump: { target: "cali-FORWARD" } })],
    finds: [],
  },
  { name: "the same, with an accept for all", entries: [chain("drop"), rule(counter, { accept: null })], finds: [] },
  {
    name: "an accept for some",
    entries: [chain("drop"), rule({ match: {} }, { accept: null })],
    finds: ["its policy is drop"],
  },
  {
    name: "a rule that drops all",
    entries: [chain("accept"), rule(counter, { drop: null })],
    finds: ["a rule drops everything"],
  },
  { name: "our own table", entries: [chain("drop", { table: "cattail" })], finds: [] },
  { name: "another hook", entries: [chain("drop", { hook: "input" })], finds: [] },
];
for (const { name, entries, finds } of cases)
  test(`firewalls of others: ${name}`, () => {
    deepEqual(
      foreignDrops(JSON.stringify({ nftables: entries })).map(({ what }) => what),
      finds,
    );
  });

test("whose rules are there: ours, the original's of nftables and of iptables, or of both", () => {
  const table = (name: string) => ({ table: { family: "inet", name } });
  const owners = (...entries: object[]) => ruleOwners(JSON.stringify({ nftables: entries }));
  deepEqual(owners(), []);
  deepEqual(owners(table("cattail")), ["cattail"]);
  deepEqual(owners(table("calico")), ["calico"]);
  deepEqual(owners(table("cattail"), chain("accept", { name: "cali-FORWARD" })), ["cattail", "calico"]);
});

test("firewalls of others: each table speaks for its families", () => {
  const found = (family: string) =>
    foreignDrops(JSON.stringify({ nftables: [chain("drop", { family })] })).map(({ families }) => families);
  deepEqual(found("ip"), [[4]]);
  deepEqual(found("ip6"), [[6]]);
  deepEqual(found("inet"), [[4, 6]]);
  deepEqual(found("bridge"), []);
});

test("firewalls of others: iptables' older tables", () => {
  deepEqual(foreignLegacyDrops("*filter\n:FORWARD ACCEPT [0:0]\nCOMMIT\n"), []);
  deepEqual(foreignLegacyDrops("*filter\n:FORWARD DROP [0:0]\n-A FORWARD -j cali-FORWARD\nCOMMIT\n"), []);
  deepEqual(
    foreignLegacyDrops("*filter\n:FORWARD DROP [0:0]\nCOMMIT\n").map(({ what }) => what),
    ["its policy is drop"],
  );
});

test("firewalls of others: what comes after the first rule that decides about everything is never asked", () => {
  const found = (...entries: object[]) => foreignDrops(JSON.stringify({ nftables: entries })).map(({ what }) => what);
  deepEqual(found(chain("accept"), rule({ accept: null }), rule({ drop: null })), []);
  deepEqual(found(chain("accept"), rule({ drop: null }), rule({ accept: null })), ["a rule drops everything"]);
  deepEqual(found(chain("accept"), rule({ drop: null }), rule({ jump: { target: "cali-FORWARD" } })), [
    "a rule drops everything",
  ]);
  const reject = { xt: { type: "target", name: "REJECT" } };
  deepEqual(found(chain("accept"), rule(counter, reject)), ["a rule drops everything"]);
  const legacy = (...rules: string[]) =>
    foreignLegacyDrops(["*filter", ":FORWARD ACCEPT [0:0]", ...rules, "COMMIT"].join("\n")).map(({ what }) => what);
  deepEqual(legacy("[0:0] -A FORWARD -j REJECT --reject-with icmp-host-prohibited"), ["a rule drops everything"]);
  deepEqual(legacy("[0:0] -A FORWARD -j ACCEPT", "[0:0] -A FORWARD -j DROP"), []);
  deepEqual(legacy("[0:0] -A FORWARD -i eth9 -j DROP"), []);
});
