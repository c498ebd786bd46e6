// Filters: names of functions, rules, communities.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { filterSymbol, parseCommunity, readRules } from "./filters.ts";
import type { FilterRule } from "./intent.ts";

const symbols: { name: string; filter: string; symbol: string | undefined }[] = [
  { name: "a short name stays", filter: "a.b-c", symbol: "bgp_a.b-c_importFilterV4" },
  { name: "45 characters fit", filter: "x".repeat(45), symbol: `bgp_${"x".repeat(45)}_importFilterV4` },
  {
    name: "a longer one is cut, and told apart by its hash",
    filter: "x".repeat(46),
    symbol: `bgp_${"x".repeat(28)}_404E0D6B65BC5EAC_importFilterV4`,
  },
  { name: "a quote is no name", filter: "a'b", symbol: undefined },
  { name: "nor is nothing", filter: "", symbol: undefined },
];
for (const { name, filter, symbol } of symbols) {
  test(`filter symbols: ${name}`, () => {
    equal(filterSymbol(filter, "import", 4), symbol);
    equal((symbol ?? "").length <= 64, true, "BIRD's longest symbol");
  });
}

const communities: { text: string; value: readonly number[] | undefined }[] = [
  { text: "65000:1", value: [65000, 1] },
  { text: "65536:1", value: undefined },
  { text: "4294967295:2:3", value: [4294967295, 2, 3] },
  { text: "1:2:3:4", value: undefined },
  { text: "1:2); accept; #", value: undefined },
  { text: "", value: undefined },
];
for (const { text, value } of communities)
  test(`communities: ${JSON.stringify(text)}`, () => deepEqual(parseCommunity(text), value));

const rules: { name: string; rule: object; family?: 4 | 6; read: FilterRule | RegExp }[] = [
  {
    name: "no condition is always",
    rule: { action: "Reject" },
    read: { conditions: [], operations: [], action: "reject" },
  },
  {
    name: "prefix lengths stay within the network and the family",
    rule: { cidr: "10.1.0.0/16", matchOperator: "In", prefixLength: { min: 8, max: 24 }, action: "Accept" },
    read: {
      conditions: [{ is: "net", operator: "~", cidr: "10.1.0.0/16", lengths: [16, 24] }],
      operations: [],
      action: "accept",
    },
  },
  {
    name: "lengths that no part of the network has match nothing",
    rule: { cidr: "10.1.0.0/16", matchOperator: "In", prefixLength: { max: 8 }, action: "Accept" },
    read: { conditions: [{ is: "never" }], operations: [], action: "accept" },
  },
  {
    name: "and what is not among them is everything",
    rule: { cidr: "10.1.0.0/16", matchOperator: "NotIn", prefixLength: { max: 8 }, action: "Reject" },
    read: { conditions: [{ is: "always" }], operations: [], action: "reject" },
  },
  {
    name: "one network has one length",
    rule: { cidr: "10.1.0.0/16", matchOperator: "Equal", prefixLength: { min: 8, max: 24 }, action: "Accept" },
    read: { conditions: [{ is: "net", operator: "=", cidr: "10.1.0.0/16" }], operations: [], action: "accept" },
  },
  {
    name: "operations of a rejection are none",
    rule: { action: "Reject", operations: [{ setPriority: { value: 100 } }] },
    read: { conditions: [], operations: [], action: "reject" },
  },
  {
    name: "a priority is a local preference, the other way round",
    rule: { priority: 512, action: "Accept", operations: [{ setPriority: { value: 1024 } }] },
    read: {
      conditions: [{ is: "local preference", value: 2147483135 }],
      operations: [{ is: "local preference", value: 2147482623 }],
      action: "accept",
    },
  },
  { name: "an action that is none", rule: { action: "Drop" }, read: /^rule 1: its action is "Drop"/ },
  {
    name: "an operator that is none",
    rule: { cidr: "10.0.0.0/8", matchOperator: "toString", action: "Accept" },
    read: /matchOperator/,
  },
  {
    name: "a network of the other family",
    rule: { cidr: "fd00::/64", matchOperator: "In", action: "Accept" },
    read: /no IPv4 network/,
  },
  { name: "a pattern that ends BIRD's text", rule: { interface: '"; accept', action: "Accept" }, read: /no pattern/ },
  {
    name: "a community that is none",
    rule: { communities: { values: ["x"] }, action: "Accept" },
    read: /no community/,
  },
  { name: "a priority beyond all", rule: { priority: 2147483647, action: "Accept" }, read: /priority/ },
  { name: "an operation that is none", rule: { action: "Accept", operations: [{}] }, read: /operation/ },
];
for (const { name, rule, family = 4, read } of rules) {
  test(`filter rules: ${name}`, () => {
    const found = readRules([rule as Parameters<typeof readRules>[0][number]], family); // as an object of a newer API may be
    if (read instanceof RegExp) equal(typeof found === "string" && read.test(found), true, String(found));
    else deepEqual(found, [read]);
  });
}
