import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { type Policy, readPolicy } from "./values.ts";

const key = { kind: "GlobalNetworkPolicy", namespace: "", name: "p" };

test("the rules of a policy are read when asked for, and are the same each time", () => {
  const policy: Policy = readPolicy(key, JSON.stringify({ inbound_rules: [{ action: "allow" }] }));
  deepEqual(
    policy.rules.ingress.map(({ action }) => action),
    ["allow"],
  );
  equal(policy.rules, policy.rules);
});

test("a rule that makes no sense voids the policy at once, before anybody asks for its rules", () => {
  throws(() => readPolicy(key, JSON.stringify({ inbound_rules: [{ action: "perhaps" }] })), /is no action/);
});
