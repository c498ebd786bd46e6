import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { type AttentionFacts, attention } from "./attention.ts";
import type { ConnectionView } from "./contract.ts";

const nowMs = 1_000_000_000_000;
const dayMs = 86_400_000;
const calm: AttentionFacts = {
  nowMs,
  datastore: { state: "reachable", detail: "" },
  syncers: [],
  nodes: [],
  watches: [],
  certificates: [],
  invalidObjects: [],
};
const connection = { lagMs: 0 } as ConnectionView; // the rules read nothing else of a connection

const cases: { name: string; facts: Partial<AttentionFacts>; says: RegExp; severity: string }[] = [
  {
    name: "an unreachable datastore",
    facts: { datastore: { state: "unreachable", detail: "connection refused" } },
    says: /datastore cannot be reached.*connection refused/s,
    severity: "problem",
  },
  {
    name: "a certificate with 20 days left",
    facts: { certificates: [certificate(nowMs + 20.5 * dayMs)] },
    says: /typha\.crt expires in 20 days/,
    severity: "warning",
  },
  {
    name: "an expired certificate",
    facts: { certificates: [certificate(nowMs - dayMs)] },
    says: /typha\.crt has expired/,
    severity: "problem",
  },
  {
    name: "a node that is not connected",
    facts: { nodes: [{ node: "node-1", expected: true, connections: [] }] },
    says: /1 node is not connected: node-1/,
    severity: "warning",
  },
  {
    name: "a node that is behind",
    facts: { nodes: [{ node: "node-1", expected: true, connections: [{ ...connection, lagMs: 20_000 }] }] },
    says: /1 node is behind: node-1/,
    severity: "warning",
  },
  {
    name: "objects that are not valid",
    facts: { invalidObjects: [{ object: "GlobalNetworkPolicy x", field: "spec.selector", rule: "does not parse" }] },
    says: /1 object is not valid.*spec\.selector: does not parse/s,
    severity: "warning",
  },
];

for (const { name, facts, says, severity } of cases) {
  test(`attention is drawn to ${name}`, () => {
    const found = attention({ ...calm, ...facts });
    equal(found.length, 1);
    equal(found[0]?.severity, severity);
    match(`${found[0]?.what} ${found[0]?.why}`, says);
    equal(found[0]?.fix === "", false);
  });
}

test("a calm server draws no attention", () => deepEqual(attention(calm), []));

function certificate(expiresAtMs: number) {
  return { file: "typha.crt", subject: "CN=calico-typha", issuer: "CN=ca", expiresAtMs };
}
