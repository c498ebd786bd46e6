// Rules and the statements that they become.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { parseRange, rangeText } from "../../../base/lib/index.ts";
import type { V1Rule } from "../../../calico/model/index.ts";
import { readRule } from "../../../calico/policy/index.ts";
import { setName } from "./names.ts";
import { disjoint, halves, renderRule } from "./render-rule.ts";

const verdicts = { allow: "accept", deny: "drop", pass: "return", log: "log" };
const web = 'nets app == "web"';
const named = 'port http 6 app == "web"';

const rows: readonly (readonly [string, V1Rule, readonly string[]])[] = [
  ["everything, in both families at once", { action: "allow" }, ["accept"]],
  ["one family", { action: "deny", ip_version: 6 }, ["meta nfproto ipv6 drop"]],
  [
    "ports, those that meet joined",
    { action: "allow", protocol: "tcp", dst_ports: [443, 80, "81:90"] },
    ["meta l4proto 6 th dport { 80-90, 443 } accept"],
  ],
  ["every other port and protocol", { action: "allow", "!protocol": "icmp" }, ["meta l4proto != 1 accept"]],
  [
    "a selector, as a set of each family",
    { action: "allow", src_selector: "app == 'web'" },
    [`meta nfproto ipv4 ip saddr @${setName(web, 4)} accept`, `meta nfproto ipv6 ip6 saddr @${setName(web, 6)} accept`],
  ],
  [
    "networks of one family alone",
    { action: "deny", dst_nets: ["10.0.0.0/8", "10.1.0.0/16"] },
    ["meta nfproto ipv4 ip daddr { 10.0.0.0/8 } drop"],
  ],
  [
    "every address of a family",
    { action: "allow", src_nets: ["0.0.0.0/0"] },
    ["meta nfproto ipv4 ip saddr { 0.0.0.0/1, 128.0.0.0/1 } accept"],
  ],
  [
    "ports by number or by name",
    { action: "allow", protocol: "tcp", dst_selector: "app == 'web'", dst_ports: [80, "http"], ip_version: 4 },
    [
      `meta nfproto ipv4 meta l4proto 6 ip daddr @${setName(web, 4)} th dport { 80 } accept`,
      `meta nfproto ipv4 meta l4proto 6 ip daddr @${setName(web, 4)} ip daddr . meta l4proto . th dport @${setName(named, 4)} accept`,
    ],
  ],
  [
    "ICMP of IPv4 has no line in IPv6",
    { action: "allow", protocol: "icmp", icmp_type: 8 },
    ["meta nfproto ipv4 meta l4proto 1 meta l4proto 1 icmp type 8 accept"],
  ],
  [
    "not a type and code together",
    { action: "allow", ip_version: 4, "!icmp_type": 8, "!icmp_code": 0 },
    [
      "meta nfproto ipv4 meta l4proto 1 icmp type != 8 accept",
      "meta nfproto ipv4 meta l4proto 1 icmp type 8 icmp code != 0 accept",
    ],
  ],
  [
    "a rule that asks for networks of two families holds in none",
    { action: "allow", src_nets: ["10.0.0.0/8"], dst_nets: ["fd00::/8"] },
    [],
  ],
  ["pass and log", { action: "next-tier" }, ["return"]],
  ["log goes on", { action: "log" }, ["log"]],
];

for (const [what, rule, wanted] of rows)
  test(`${what}: ${wanted.length} lines`, () => {
    deepEqual(renderRule(readRule(rule), verdicts), wanted);
  });

test("networks that lie within others are left out, and the whole family is two halves", () => {
  const nets = ["10.0.0.0/8", "10.1.0.0/16", "10.0.0.0/8", "11.0.0.0/8", "0.0.0.0/32"].flatMap(
    (text) => parseRange(text) ?? [],
  );
  deepEqual(disjoint(nets).map(rangeText), ["0.0.0.0/32", "10.0.0.0/8", "11.0.0.0/8"]);
  deepEqual(
    [parseRange("::/0")].flatMap((net) => (net === undefined ? [] : halves(net).map(rangeText))),
    ["::/1", "8000::/1"],
  );
});
