// Names and columns of every kind, against the table of calicoctl's kinds; the cells against tables it was recorded to print.
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { columnsOf, followedKinds, type Kind, kindByName, kindInfo, kindNames, namedKinds } from "./index.ts";

const headings: { [K in Kind]?: [ps: string, wide?: string] } = {
  IPPool: ["NAME CIDR SELECTOR", "NAME CIDR NAT IPIPMODE VXLANMODE DISABLED DISABLEBGPEXPORT SELECTOR ASSIGNMENTMODE"],
  Node: ["NAME", "NAME ASN IPV4 IPV6"],
  BGPConfiguration: ["NAME LOGSEVERITY MESHENABLED ASNUMBER"],
  BGPPeer: ["NAME PEERIP NODE ASN"],
  FelixConfiguration: ["NAME"],
  GlobalNetworkPolicy: ["NAME TIER", "NAME TIER ORDER SELECTOR"],
  NetworkPolicy: ["NAME TIER", "NAME TIER ORDER SELECTOR"],
  ClusterInformation: ["NAME CLUSTERGUID CLUSTERTYPE CALICOVERSION DATASTOREREADY"],
  WorkloadEndpoint: ["WORKLOAD NODE NETWORKS INTERFACE", "NAME WORKLOAD NODE NETWORKS INTERFACE PROFILES NATS"],
  Tier: ["NAME ORDER"],
  Profile: ["NAME", "NAME LABELS"],
  HostEndpoint: ["NAME NODE", "NAME NODE INTERFACE IPS PROFILES"],
  GlobalNetworkSet: ["NAME", "NAME NETS"],
  NetworkSet: ["NAME", "NAME NETS"],
  IPReservation: ["NAME", "NAME CIDRS"],
  IPAMConfiguration: [
    "NAME STRICTAFFINITY AUTOALLOCATEBLOCKS",
    "NAME STRICTAFFINITY AUTOALLOCATEBLOCKS MAXBLOCKSPERHOST",
  ],
  KubeControllersConfiguration: ["NAME"],
  BGPFilter: ["NAME NUMEXPORTV4 NUMIMPORTV4 NUMEXPORTV6 NUMIMPORTV6"],
  CalicoNodeStatus: ["NAME NODE", "NAME NODE CLASSES"],
  StagedGlobalNetworkPolicy: ["NAME TIER", "NAME TIER ORDER SELECTOR"],
  StagedNetworkPolicy: ["NAME TIER", "NAME TIER ORDER SELECTOR"],
  StagedKubernetesNetworkPolicy: ["NAME", "NAME PODSELECTOR"],
};

test("the kinds that users can name are calicoctl's", () => {
  deepEqual([...namedKinds].sort(), Object.keys(headings).sort());
});

for (const kind of namedKinds) {
  test(`${kind} has the headings of calicoctl`, () => {
    const [ps, wide = ps] = headings[kind] ?? [""];
    equal(
      columnsOf(kind, "ps")
        .map(({ heading }) => heading)
        .join(" "),
      ps,
    );
    equal(
      columnsOf(kind, "wide")
        .map(({ heading }) => heading)
        .join(" "),
      wide,
    );
  });
}

const names: [name: string, kind: Kind | undefined][] = [
  ["ippools", "IPPool"],
  ["IPPool", "IPPool"],
  ["POOL", "IPPool"],
  ["no", "Node"],
  ["bps", "BGPPeer"],
  ["pols", "NetworkPolicy"],
  ["gnetsets", "GlobalNetworkSet"],
  ["ipamconfig", "IPAMConfiguration"],
  ["skpols", "StagedKubernetesNetworkPolicy"],
  ["nodestatuses", "CalicoNodeStatus"],
  ["pods", undefined],
  ["ipamblock", undefined],
  ["", undefined],
];
for (const [name, kind] of names) test(`"${name}" means ${kind ?? "nothing"}`, () => equal(kindByName(name), kind));

test("no two kinds have a name in common, and every name is in lower case", () => {
  const all = namedKinds.flatMap((kind) => kindInfo(kind).names ?? []);
  equal(new Set(all).size, all.length);
  deepEqual(
    all.filter((name) => name !== name.toLowerCase()),
    [],
  );
  for (const kind of namedKinds) equal(kindByName(kind), kind);
});

const spec = (members: object) => ({ metadata: { name: "a", namespace: "shop" }, spec: members });
const asNumber = { defaultAsNumber: 64512 };
const rows: { name: string; kind: Kind; object: object; wide: string[] }[] = [
  {
    name: "a bare pool",
    kind: "IPPool",
    object: spec({ cidr: "10.9.0.0/16", nodeSelector: "all()", assignmentMode: "Automatic" }),
    wide: ["a", "10.9.0.0/16", "false", "Never", "Never", "false", "false", "all()", "Automatic"],
  },
  {
    name: "a node with the cluster's AS number",
    kind: "Node",
    object: spec({ bgp: { ipv4Address: "10.0.0.1/24" } }),
    wide: ["a", "(64512)", "10.0.0.1/24", ""],
  },
  {
    name: "a node with its own",
    kind: "Node",
    object: spec({ bgp: { asNumber: 65001 } }),
    wide: ["a", "65001", "", ""],
  },
  { name: "a node without BGP", kind: "Node", object: spec({}), wide: ["a", "", "", ""] },
  {
    name: "a configuration of one node",
    kind: "BGPConfiguration",
    object: spec({ logSeverityScreen: "Debug" }),
    wide: ["a", "Debug", "-", "-"],
  },
  {
    name: "a peer of all",
    kind: "BGPPeer",
    object: spec({ peerIP: "1.2.3.4" }),
    wide: ["a", "1.2.3.4", "(global)", "0"],
  },
  {
    name: "a peer of some",
    kind: "BGPPeer",
    object: spec({ nodeSelector: "!has(rr)", asNumber: 1 }),
    wide: ["a", "", "!has(rr)", "1"],
  },
  {
    name: "an order in Go's digits",
    kind: "Tier",
    object: spec({ order: 20000000.5 }),
    wide: ["a", "2.00000005e+07"],
  },
  {
    name: "a policy without order",
    kind: "NetworkPolicy",
    object: spec({ tier: "default" }),
    wide: ["a", "default", "<nil>", ""],
  },
  {
    name: "nets beyond 80 characters",
    kind: "GlobalNetworkSet",
    object: spec({ nets: Array.from({ length: 9 }, (_, index) => `198.51.${index}.0/24`) }),
    wide: ["a", "198.51.0.0/24,198.51.1.0/24,198.51.2.0/24,198.51.3.0/24,198.51.4.0/24,198.51...."],
  },
  {
    name: "labels in order",
    kind: "Profile",
    object: spec({ labelsToApply: { b: "2", a: "1" } }),
    wide: ["a", "a=1,b=2"],
  },
  {
    name: "a pod's endpoint",
    kind: "WorkloadEndpoint",
    object: spec({
      pod: "db",
      node: "n1",
      ipNetworks: ["10.244.1.6/32"],
      interfaceName: "cali1",
      profiles: ["kns.a", "b"],
    }),
    wide: ["a", "db", "n1", "10.244.1.6/32", "cali1", "kns.a,b", ""],
  },
  { name: "counts of rules", kind: "BGPFilter", object: spec({ exportV4: [{}, {}] }), wide: ["a", "2", "0", "0", "0"] },
];
for (const { name, kind, object, wide } of rows) {
  test(`a row of the table: ${name}`, () => {
    deepEqual(
      columnsOf(kind, "wide").map(({ cell }) => cell({ ...object }, asNumber)),
      wide,
    );
  });
}

test("custom columns have every heading once, and the namespace where there is one", () => {
  const all = columnsOf("WorkloadEndpoint", "all").map(({ heading }) => heading);
  equal(new Set(all).size, all.length);
  ok(all.includes("ORCHESTRATOR") && all.includes("NAMESPACE"));
  equal(
    columnsOf("IPPool", "all").some(({ heading }) => heading === "NAMESPACE"),
    false,
  );
});

test("what is not followed is not enforcement", () => {
  for (const kind of kindNames) {
    if (!followedKinds.includes(kind)) equal(kindInfo(kind).carries, "optional", kind);
  }
});
