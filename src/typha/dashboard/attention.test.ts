import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { type AttentionFacts, attention } from "./attention.ts";
import type { ConnectionView, NodeView, WatchView } from "./contract.ts";
import { isAgent, nodeState } from "./node-state.ts";

const nowMs = 1_000_000_000_000;
const dayMs = 86_400_000;
const calm: AttentionFacts = {
  nowMs,
  notReady: [],
  datastore: { state: "reachable", detail: "" },
  syncers: [],
  nodes: [],
  health: [],
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
  const state = nodeState({ connections, isEveryServerHeard: true });
  return { node: "node-1", expected: true, connections, state, server: null };
}

const absent: { name: string; given: Parameters<typeof nodeState>[0]; state: string }[] = [
  {
    name: "is as the server says that has it",
    given: { connections: [], elsewhere: "behind", isEveryServerHeard: false },
    state: "behind",
  },
  {
    name: "is connected nowhere, where every server was heard",
    given: { connections: [], isEveryServerHeard: true },
    state: "not connected",
  },
  {
    name: "may be with a server that was not heard",
    given: { connections: [], isEveryServerHeard: false },
    state: "unknown",
  },
  {
    name: "that is here as well is as this server sees it",
    given: { connections: [connection], elsewhere: "behind", isEveryServerHeard: true },
    state: "up to date",
  },
];
for (const { name, given, state } of absent) {
  test(`a node that is not here ${name}`, () => equal(nodeState(given), state));
}

const programs: { info: string; agent: boolean }[] = [
  { info: "Revision: 87c1590; Build date: 2026-08-22T06:33:20+0000", agent: true },
  { info: "confd v3.32.0", agent: true },
  { info: "", agent: true },
  { info: "cattail demo", agent: true },
  { info: "cattail watch", agent: false },
  { info: "cattail doctor", agent: false },
  { info: "cattail client", agent: false },
  { info: "typha command-line client", agent: false },
];
for (const { info, agent } of programs) {
  test(`"${info}" is ${agent ? "an agent of a node" : "no agent of a node"}`, () => equal(isAgent({ info }), agent));
}

test("kinds that may not be read are one card, however many they are", () => {
  const watch = (kind: string, rights: WatchView["rights"]) => ({ kind, rights }) as WatchView; // no more is looked at
  const watches = ["Pod", "Node", "Tier", "IPPool", "Service"].map((kind) => watch(kind, "forbidden"));
  const some = attention({ ...calm, watches: [...watches, watch("Namespace", "granted")] });
  deepEqual(
    some.map(({ what }) => what),
    ["The server may not read Pod, Node, Tier and 2 more"],
  );
  const none = attention({ ...calm, watches });
  deepEqual(
    none.map(({ what, severity }) => [severity, what]),
    [["problem", "The server may read nothing in the cluster"]],
  );
});

function certificate(expiresAtMs: number) {
  return { file: "typha.crt", subject: "CN=calico-typha", issuer: "CN=ca", expiresAtMs };
}
