// Rules of others that drop some packets: which are suspects, under which conditions, and what is accepted before them.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { legacySuspects, suspectRules } from "./suspect-rules.ts";

const base = { family: "ip", table: "guard" };
const chain = (name: string, more: object = {}) => ({ chain: { ...base, name, ...more } });
const forward = (policy = "accept") => chain("f", { type: "filter", hook: "forward", policy });
let handle = 0;
const rule = (name: string, ...expr: object[]) => {
  handle += 1;
  return { rule: { ...base, chain: name, handle, expr } };
};
const saddr = (right: unknown, op = "==") => ({
  match: { op, left: { payload: { protocol: "ip", field: "saddr" } }, right },
});
const dport = (right: unknown) => ({
  match: { op: "==", left: { payload: { protocol: "udp", field: "dport" } }, right },
});
const meta = (key: string, right: unknown) => ({ match: { op: "==", left: { meta: { key } }, right } });
const state = (...right: string[]) => ({ match: { op: "in", left: { ct: { key: "state" } }, right } });
const counter = (packets: number) => ({ counter: { packets, bytes: 0 } });
const drop = { drop: null };
const accept = { accept: null };
const pods = { prefix: { addr: "10.244.0.0", len: 16 } };

const listing = (entries: readonly object[]) => JSON.stringify({ nftables: entries });
const found = (...entries: object[]) => suspectRules(listing(entries), listing(entries)).map(({ rule: text }) => text);

const cases: { name: string; entries: object[]; finds: string[] }[] = [
  { name: "nothing", entries: [], finds: [] },
  {
    name: "a rule about addresses",
    entries: [forward(), rule("f", saddr(pods), drop)],
    finds: ["saddr 10.244.0.0/16 drop"],
  },
  {
    name: "another table of nat",
    entries: [chain("f", { type: "nat", hook: "prerouting" }), rule("f", drop)],
    finds: [],
  },
  { name: "a policy", entries: [forward("drop")], finds: ["policy drop"] },
  {
    name: "a rule behind a jump, with the conditions of both",
    entries: [
      forward(),
      rule("f", meta("iifname", "eth0"), { jump: { target: "deep" } }),
      rule("deep", saddr(pods, "!="), drop),
    ],
    finds: ["saddr != 10.244.0.0/16 drop"],
  },
  {
    name: "what Calico's own chains decide before",
    entries: [forward("drop"), rule("f", { jump: { target: "cali-FORWARD" } }), rule("f", drop)],
    finds: [],
  },
  { name: "invalid packets", entries: [forward(), rule("f", state("invalid"), drop)], finds: [] },
  { name: "something that nobody understands", entries: [forward(), rule("f", { fib: {} }, drop)], finds: [] },
  {
    name: "a named set whose elements are known",
    entries: [
      { set: { ...base, name: "bad", elem: ["10.9.0.1", pods, { elem: { val: "10.9.0.2", timeout: 60 } }] } },
      forward(),
      rule("f", saddr("@bad"), drop),
    ],
    finds: ["saddr 10.9.0.1, 10.244.0.0/16, 10.9.0.2 drop"],
  },
  { name: "a named set", entries: [forward(), rule("f", saddr("@bad"), drop)], finds: [] },
  {
    name: "ports",
    entries: [forward(), rule("f", dport({ set: [53, { range: [1000, 4789] }] }), drop)],
    finds: ["dport 53, 1000-4789 drop"],
  },
];
for (const { name, entries, finds } of cases)
  test(`rules of others: ${name}`, () => deepEqual(found(...entries), finds));

test("rules of others: one that counts tells by itself whether it dropped something", () => {
  const entries = (packets: number) => [
    forward(),
    {
      rule: { ...base, chain: "f", handle: 7, expr: [{ xt: { type: "match", name: "mark" } }, counter(packets), drop] },
    },
  ];
  deepEqual(suspectRules(listing(entries(3)), listing(entries(3))), []);
  const [suspect] = suspectRules(listing(entries(3)), listing(entries(9)));
  deepEqual([suspect?.grew, suspect?.rule], [6, "... drop"]);
});

test("rules of others: what is accepted before is remembered with them", () => {
  const entries = [forward("drop"), rule("f", saddr(pods), accept), rule("f", meta("l4proto", "icmp"), accept)];
  const [suspect] = suspectRules(listing(entries), listing(entries));
  deepEqual(suspect?.unless, [
    [{ on: "source", networks: ["10.244.0.0/16"], isNot: false }],
    [{ on: "protocol", names: ["icmp"], isNot: false }],
  ]);
});

test("rules of others: a chain that jumps to itself ends", () => {
  deepEqual(found(forward(), rule("f", { jump: { target: "f" } }), rule("f", saddr(pods), drop)).length, 9);
});

test("rules of others: iptables' older tables tell by their counters", () => {
  const save = (rule: number, policy: number) =>
    [
      "*raw",
      ":PREROUTING ACCEPT [9:9]",
      `[${rule}:9] -A PREROUTING -s 10.244.0.0/18 -j DROP`,
      "[9:9] -A cali-PREROUTING -j DROP",
      "COMMIT",
      "*filter",
      `:FORWARD DROP [${policy}:9]`,
      "COMMIT",
    ].join("\n");
  const shown = (before: string, after: string) =>
    legacySuspects(before, after, 4).map(({ table, hook, rule, grew }) => [table, hook, rule, grew]);
  deepEqual(shown(save(1, 1), save(1, 1)), []);
  deepEqual(shown(save(1, 1), save(5, 3)), [
    ["raw (iptables-legacy)", "prerouting", "-s 10.244.0.0/18 -j DROP", 4],
    ["filter (iptables-legacy)", "forward", "policy DROP", 2],
  ]);
});
