// Which sessions start anew when the objects change: those whose routes are kept meanwhile. And how they are kept.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { rangeText } from "../../../base/lib/index.ts";
import { mainTable, type Route } from "../../../base/linux/kernel.ts";
import { computeBgp } from "../model/compute.ts";
import { highestPriority } from "../model/intent.ts";
import { BgpObjects } from "../model/objects.ts";
import { copiesOf, leftPools, restarting } from "./bridge.ts";

type Changes = {
  readonly reflector?: string;
  readonly as?: number;
  readonly without?: string;
  readonly mesh?: boolean;
  /** This node's own address, and the port that it listens on. */
  readonly address?: string;
  readonly port?: number;
  /** Of the pool 10.1.0.0/16; undefined: there is none. */
  readonly pool?: "plain" | "vxlan" | "ipip";
  readonly programs?: string;
};

function intentWith({ reflector, as, without, mesh = true, pool, programs, address, port }: Changes) {
  const objects = new BgpObjects();
  const put = (kind: string, name: string, spec: object, labels = {}) =>
    objects.set(
      `/calico/resources/v3/projectcalico.org/${kind}/${name}`,
      JSON.stringify({ metadata: { name, labels }, spec }),
    );
  for (const [i, name] of ["n1", "n2", "n3"].entries()) {
    const bgp = { ipv4Address: name === "n1" && address !== undefined ? address : `10.0.0.${i + 1}/24` };
    const isReflector = name === reflector;
    if (name !== without)
      put(
        "nodes",
        name,
        { bgp: isReflector ? { ...bgp, routeReflectorClusterID: "1.0.0.1" } : bgp },
        isReflector ? { rr: "" } : {},
      );
  }
  if (pool !== undefined) {
    const modes = { vxlan_mode: pool === "vxlan" ? "always" : "", ipip_mode: pool === "ipip" ? "always" : "" };
    objects.set("/calico/v1/ipam/v4/pool/10.1.0.0-16", JSON.stringify({ cidr: "10.1.0.0/16", ...modes }));
  }
  put("bgppeers", "reflectors", { nodeSelector: "!has(rr)", peerSelector: "has(rr)" });
  put("bgpconfigurations", "default", {
    nodeToNodeMeshEnabled: mesh,
    ...(as && { asNumber: as }),
    ...(programs && { programClusterRoutes: programs }),
  });
  if (port !== undefined) put("bgpconfigurations", "node.n1", { listenPort: port });
  const { intent } = computeBgp({
    ...{ node: "n1", objects, services: [], slices: [], workloads: [] },
    settings: {
      ...{ routerId: undefined, advertisedClusterIps: undefined, kubernetesNode: "n1" },
      ...{ usesPodCidr: false, agentProtocol: 80, canTunnel: false },
    },
    secret: () => ({ is: "missing", why: "" }),
  });
  if (intent === undefined) throw new Error("there is an intent");
  return intent;
}

const cases: { name: string; before: Changes; after: Changes; anew: string[] }[] = [
  { name: "nothing", before: {}, after: {}, anew: [] },
  { name: "a peer becomes a reflector", before: {}, after: { reflector: "n2" }, anew: ["Mesh_10_0_0_2"] },
  {
    name: "this node becomes one",
    before: {},
    after: { reflector: "n1" },
    anew: ["Mesh_10_0_0_2", "Mesh_10_0_0_3"],
  },
  {
    name: "and is one no longer",
    before: { reflector: "n1" },
    after: {},
    anew: ["Node_10_0_0_2", "Node_10_0_0_3"],
  },
  { name: "another AS number", before: {}, after: { as: 64_600 }, anew: ["Mesh_10_0_0_2", "Mesh_10_0_0_3"] },
  { name: "this node listens elsewhere", before: {}, after: { port: 1790 }, anew: ["Mesh_10_0_0_2", "Mesh_10_0_0_3"] },
  {
    name: "this node has another address",
    before: {},
    after: { address: "10.0.0.9/24" },
    anew: ["Mesh_10_0_0_2", "Mesh_10_0_0_3"],
  },
  { name: "a node goes: its session, too, and for good", before: {}, after: { without: "n3" }, anew: [] },
  { name: "the mesh is switched off", before: { reflector: "n2" }, after: { reflector: "n2", mesh: false }, anew: [] },
];
for (const { name, before, after, anew } of cases) {
  test(`sessions that start anew: ${name}`, () => {
    deepEqual([...restarting(intentWith(before), intentWith(after))].sort(), anew);
  });
}

const pools: { name: string; before: Changes; after: Changes; left: string[] }[] = [
  { name: "it gets VXLAN", before: { pool: "plain" }, after: { pool: "vxlan" }, left: ["10.1.0.0/16"] },
  { name: "it gets IP in IP", before: { pool: "plain" }, after: { pool: "ipip" }, left: ["10.1.0.0/16"] },
  {
    ...{ name: "others write plain routes now", before: { pool: "plain" } },
    ...{ after: { pool: "plain", programs: "Disabled" }, left: ["10.1.0.0/16"] },
  },
  { name: "it loses VXLAN", before: { pool: "vxlan" }, after: { pool: "plain" }, left: [] },
  { name: "from one tunnel to another", before: { pool: "vxlan" }, after: { pool: "ipip" }, left: [] },
  { name: "it goes", before: { pool: "plain" }, after: {}, left: [] },
];
for (const { name, before, after, left } of pools) {
  test(`a pool is BIRD's no longer: ${name}`, () =>
    deepEqual(leftPools(intentWith(before), intentWith(after)).map(rangeText), left));
}

function ofBird(destination: string, gateway: string, metric?: number): Route {
  const way = { destination, gateway, index: 2, ...(metric !== undefined && { metric }) };
  return { ...way, family: "inet", table: mainTable, protocol: "bird", type: "unicast" } as Route;
}

test("what is kept is what is in use, and no route of BIRD can take its place", () => {
  const routes = [
    ofBird("10.1.1.0/26", "10.0.0.3", 1024),
    ofBird("10.1.1.0/26", "10.0.0.2", 1),
    ofBird("10.1.2.0/26", "10.0.0.2"),
    ofBird("10.1.2.0/26", "10.0.0.3", highestPriority),
  ];
  const copies = copiesOf(routes).flatMap((change) => ("route" in change ? [change.route] : []));
  deepEqual(
    copies.map(({ destination, gateway, protocol }) => [destination, gateway, protocol]),
    [
      ["10.1.1.0/26", "10.0.0.2", 81],
      ["10.1.2.0/26", "10.0.0.2", 81],
    ],
  );
  deepEqual(
    copies.map(({ metric = 0 }) => metric > highestPriority && metric < 2 ** 32),
    [true, true],
  );
});
