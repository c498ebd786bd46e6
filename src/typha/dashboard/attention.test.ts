import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { type AttentionFacts, attention } from "./attention.ts";
import type { ConnectionView, NodeView } from "./contract.ts";
import { nodeState } from "./node-state.ts";

const nowMs = 1_000_000_000_000;
const dayMs = 86_400_000;
const calm: AttentionFacts = {
  nowMs,
  notReady: [],
  datastore: { state: "reachable", detail: "" },
  syncers: [],
  nodes: [],
  watches: [],
  certificates: [],
  invalidObjects: [],
  manifestProblems: [],
};
const connection = { lagMs: 0, answersAfterMs: null, state: "streaming" } as ConnectionView; // the rules read nothing else of a connection

const cases: { name: string; facts: Partial<AttentionFacts>; says: RegExp; severity: string }[] = [
  {
    name: "an unreachable datastore",
    facts: { datastore: { state: "unreachable", detail: "connection refused" } },
    says: /datastore cannot be reached.*connection refused/s,
    severity: "problem",
  },
  {
    name: "a server that is not ready",
    facts: { notReady: ["self-dial: a dial of our own port gets no answer"] },
    says: /not ready.*self-dial: a dial/s,
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
    facts: { nodes: [node([])] },
    says: /1 node is not connected: node-1/,
    severity: "warning",
  },
  {
    name: "a node that is behind",
    facts: { nodes: [node([{ ...connection, lagMs: 20_000 }])] },
    says: /1 node is behind: node-1.*20 s late/s,
    severity: "warning",
  },
  {
    name: "objects that are not valid",
    facts: { invalidObjects: [{ object: "GlobalNetworkPolicy x", field: "spec.selector", rule: "does not parse" }] },
    says: /1 object is not valid.*spec\.selector: does not parse/s,
    severity: "warning",
  },
  {
    name: "files that cannot be used",
    facts: { manifestProblems: ["tiers.yaml:3:1: kind is missing", "b.json:1:1: the file is not UTF-8"] },
    says: /2 problems in the manifests.*tiers\.yaml:3:1: kind is missing/s,
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

test("a server that is still reading its datastore need not be ready", () => {
  const syncers = [{ syncer: "felix", state: "resyncing" as const, keys: 0, bytes: 0, clients: 0 }];
  deepEqual(attention({ ...calm, syncers, notReady: ["felix-cache is not ready"] }), []);
});

test("a calm server draws no attention", () => deepEqual(attention(calm), []));

const states: { name: string; connections: ConnectionView[]; state: string }[] = [
  { name: "without a connection is not connected", connections: [], state: "not connected" },
  { name: "that streams is up to date", connections: [connection], state: "up to date" },
  {
    name: "still reading a snapshot is starting",
    connections: [connection, { ...connection, state: "snapshot" }],
    state: "starting",
  },
  { name: "whose updates wait is behind", connections: [{ ...connection, lagMs: 10_001 }], state: "behind" },
  {
    name: "that answers late is behind",
    connections: [connection, { ...connection, answersAfterMs: 15_000 }],
    state: "behind",
  },
];
for (const { name, connections, state } of states) {
  test(`a node ${name}`, () => equal(node(connections).state, state));
}

function node(connections: ConnectionView[]): NodeView {
  return { node: "node-1", expected: true, connections, state: nodeState({ servers: 1, connections }) };
}

test("a node without a connection may be with another server, where there is one", () => {
  equal(nodeState({ servers: 2, connections: [] }), "not here");
});

function certificate(expiresAtMs: number) {
  return { file: "typha.crt", subject: "CN=calico-typha", issuer: "CN=ca", expiresAtMs };
}
