// From objects to intent: what the original gets wrong, and the rules that are easy to get wrong.
import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { type BgpFacts, type Computed, computeBgp } from "./compute.ts";
import type { BgpProblem, FamilyIntent, Session } from "./intent.ts";
import { BgpObjects } from "./objects.ts";
import { readService, readSlice } from "./services.ts";

const root = "/calico/resources/v3/projectcalico.org";
type Given = {
  readonly nodes?: { readonly [name: string]: object };
  readonly labels?: { readonly [node: string]: { readonly [name: string]: string } };
  readonly global?: object;
  readonly configurations?: { readonly [name: string]: object };
  readonly peers?: { readonly [name: string]: object };
  readonly filters?: { readonly [name: string]: object };
  readonly pools?: { readonly [cidr: string]: object };
  readonly blocks?: { readonly [cidr: string]: string };
  readonly secrets?: { readonly [nameAndKey: string]: string };
  readonly services?: readonly object[];
  readonly slices?: readonly object[];
  readonly workloads?: BgpFacts["workloads"];
  readonly settings?: Partial<BgpFacts["settings"]>;
};

const twoNodes = { n1: { bgp: { ipv4Address: "10.0.0.1/24" } }, n2: { bgp: { ipv4Address: "10.0.0.2/24" } } };

/** As node n1. */
function compute(given: Given): Computed {
  const objects = new BgpObjects();
  const put = (kind: string, all: { readonly [name: string]: object } = {}) => {
    for (const [name, spec] of Object.entries(all)) {
      const labels = kind === "nodes" ? given.labels?.[name] : undefined;
      objects.set(`${root}/${kind}/${name}`, JSON.stringify({ metadata: { name, labels }, spec }));
    }
  };
  put("nodes", given.nodes ?? twoNodes);
  put("bgpconfigurations", {
    ...(given.global === undefined ? {} : { default: given.global }),
    ...given.configurations,
  });
  put("bgppeers", given.peers);
  put("bgpfilters", given.filters);
  for (const [cidr, value] of Object.entries(given.pools ?? {})) {
    const version = cidr.includes(":") ? 6 : 4;
    objects.set(`/calico/v1/ipam/v${version}/pool/${cidr.replace("/", "-")}`, JSON.stringify({ cidr, ...value }));
  }
  for (const [cidr, state] of Object.entries(given.blocks ?? {})) {
    const version = cidr.includes(":") ? 6 : 4;
    objects.set(`/calico/ipam/v2/host/n1/ipv${version}/block/${cidr.replace("/", "-")}`, JSON.stringify({ state }));
  }
  return computeBgp({
    node: "n1",
    objects,
    services: (given.services ?? []).flatMap((each) => readService(each) ?? []),
    slices: (given.slices ?? []).flatMap((each) => readSlice(each) ?? []),
    workloads: given.workloads ?? [],
    settings: {
      routerId: undefined,
      advertisedClusterIps: undefined,
      kubernetesNode: "n1",
      usesPodCidr: false,
      agentProtocol: 80,
      canTunnel: false,
      ...given.settings,
    },
    secret: ({ name, key }) => {
      const value = given.secrets?.[`${name} ${key}`];
      return value === undefined ? { is: "missing", why: "there is no such Secret" } : { is: "value", value };
    },
  });
}

function family(given: Given, which: 4 | 6 = 4): FamilyIntent {
  const found = compute(given).intent?.families.find((each) => each.family === which);
  if (found === undefined) throw new Error("there is no intent");
  return found;
}

const sessions = (given: Given, which: 4 | 6 = 4): readonly Session[] => family(given, which).sessions;
const names = (given: Given, which: 4 | 6 = 4) => sessions(given, which).map(({ name }) => name);
const codes = ({ problems }: Computed) => problems.map(({ code }) => code);

function session(given: Given, name: string): Session {
  const found = [...sessions(given), ...sessions(given, 6)].find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no session ${name}`);
  return found;
}

test("a node with an AS number of its own peers with nodes that have none by the cluster's number", () => {
  const nodes = {
    n1: { bgp: { ipv4Address: "10.0.0.1/24", asNumber: 65001 } },
    n2: { bgp: { ipv4Address: "10.0.0.2/24" } },
  };
  const { asNumber, localAs, isInternal } = session({ nodes }, "Mesh_10_0_0_2");
  deepEqual({ asNumber, localAs, isInternal }, { asNumber: 64512, localAs: 65001, isInternal: false });
});

test("a filter that does not exist lets nothing pass, and is named", () => {
  const given = { peers: { tor: { peerIP: "10.9.9.9", asNumber: 65000, filters: ["gone"] } } };
  const { importFilters, exportFilters } = session(given, "Global_10_9_9_9");
  deepEqual(importFilters, [{ is: "missing", name: "gone" }]);
  deepEqual(exportFilters, [{ is: "missing", name: "gone" }]);
  const [problem] = compute(given).problems;
  equal(problem?.code, "BGP_FILTER_MISSING");
  match(problem?.says ?? "", /"gone".*does not exist.*nothing passes/);
});

test("a filter that cannot be read is as one that does not exist", () => {
  const peers = { tor: { peerIP: "10.9.9.9", asNumber: 65000, filters: ["bad"] } };
  const filters = { bad: { exportV4: [{ interface: 'x" || true', action: "Accept" }] } };
  deepEqual(session({ peers, filters }, "Global_10_9_9_9").exportFilters, [{ is: "missing", name: "bad" }]);
  deepEqual(session({ peers, filters }, "Global_10_9_9_9").importFilters, [], "it says nothing of imports");
});

test("of several peers for one address the first by name counts, whatever the order in which they came", () => {
  const strict = { peerIP: "10.9.9.9", asNumber: 65000, filters: ["f"] };
  const open = { peerIP: "10.9.9.9", asNumber: 65000 };
  const filters = { f: { exportV4: [{ action: "Reject" }] } };
  for (const peers of [
    { a: strict, b: open },
    { b: open, a: strict },
  ]) {
    equal(session({ peers, filters }, "Global_10_9_9_9").exportFilters.length, 1);
    deepEqual(codes(compute({ peers, filters })), ["BGP_PEER_TWICE"]);
  }
});

test("two peers that want the same of one address are no problem", () => {
  const peer = { peerIP: "10.9.9.9", asNumber: 65000 };
  deepEqual(compute({ peers: { a: peer, b: peer } }).problems, []);
});

const slice = (nodes: readonly string[], ready = true) => ({
  metadata: { name: "s-1", namespace: "default", labels: { "kubernetes.io/service-name": "s" } },
  addressType: "IPv4",
  endpoints: nodes.map((nodeName) => ({ addresses: ["10.1.0.1"], nodeName, conditions: { ready } })),
});
const service = (spec: object = {}, status: object = {}) => ({
  metadata: { name: "s", namespace: "default" },
  spec: { type: "ClusterIP", clusterIP: "10.96.0.7", clusterIPs: ["10.96.0.7"], ipFamilies: ["IPv4"], ...spec },
  status,
});
const clusterRange = { global: { serviceClusterIPs: [{ cidr: "10.96.0.0/16" }] } };
const local = { externalTrafficPolicy: "Local" };

test("the last endpoint slice of a service takes its route with it", () => {
  const services = [service(local)];
  const before = family({ ...clusterRange, services, slices: [slice(["n1"])] });
  deepEqual(before.serviceRoutes, ["10.96.0.0/16", "10.96.0.7/32"]);
  deepEqual(family({ ...clusterRange, services, slices: [] }).serviceRoutes, ["10.96.0.0/16"]);
});

const announcements: { name: string; given: Given; routes: readonly string[] }[] = [
  {
    name: "an endpoint that says nothing of its readiness is ready",
    given: {
      ...clusterRange,
      services: [service(local)],
      slices: [{ ...slice([]), endpoints: [{ addresses: ["10.1.0.1"], nodeName: "n1" }] }],
    },
    routes: ["10.96.0.0/16", "10.96.0.7/32"],
  },
  {
    name: "an endpoint that is not ready is none",
    given: { ...clusterRange, services: [service(local)], slices: [slice(["n1"], false)] },
    routes: ["10.96.0.0/16"],
  },
  {
    name: "an endpoint on another node is that node's",
    given: { ...clusterRange, services: [service(local)], slices: [slice(["n2"])] },
    routes: ["10.96.0.0/16"],
  },
  {
    name: "a service of any policy is announced by its range alone",
    given: { ...clusterRange, services: [service()], slices: [slice(["n1"])] },
    routes: ["10.96.0.0/16"],
  },
  {
    name: "without aggregation each balanced address is announced, and its range is not",
    given: {
      global: { serviceLoadBalancerIPs: [{ cidr: "198.51.100.0/24" }], serviceLoadBalancerAggregation: "Disabled" },
      services: [
        service(
          { type: "LoadBalancer", externalTrafficPolicy: "Cluster" },
          { loadBalancer: { ingress: [{ ip: "198.51.100.5" }] } },
        ),
      ],
      slices: [slice(["n2"])],
    },
    routes: ["198.51.100.5/32"],
  },
  {
    name: "a range of one address is announced with its service, and is no range",
    given: {
      global: { serviceExternalIPs: [{ cidr: "192.0.2.7/32" }] },
      services: [
        service({ type: "NodePort", externalTrafficPolicy: "Cluster", externalIPs: ["192.0.2.7", "192.0.2.8"] }),
      ],
      slices: [slice(["n2"])],
    },
    routes: ["192.0.2.7/32"],
  },
  {
    name: "a range of one address is not announced for a service that has no endpoint slice",
    given: {
      global: { serviceExternalIPs: [{ cidr: "192.0.2.7/32" }] },
      services: [
        service({ type: "NodePort", externalTrafficPolicy: "Cluster", externalIPs: ["192.0.2.7", "192.0.2.8"] }),
      ],
    },
    routes: [],
  },
  {
    name: "a range of one address without a service is not announced",
    given: { global: { serviceExternalIPs: [{ cidr: "192.0.2.7/32" }] } },
    routes: [],
  },
  {
    name: "a node that is left out of load balancing announces nothing",
    given: {
      ...clusterRange,
      labels: { n1: { "node.kubernetes.io/exclude-from-external-load-balancers": "true" } },
      services: [service(local)],
      slices: [slice(["n1"])],
    },
    routes: [],
  },
  {
    name: "CALICO_ADVERTISE_CLUSTER_IPS wins over the configuration",
    given: { ...clusterRange, settings: { advertisedClusterIps: ["10.97.0.0/16"] } },
    routes: ["10.97.0.0/16"],
  },
];
for (const { name, given, routes } of announcements) {
  test(`services: ${name}`, () => {
    deepEqual(family(given).serviceRoutes, routes);
    deepEqual(family(given).blackholes, routes);
  });
}

test("nothing inside a service's range is put into the kernel, also on a node that announces none", () => {
  const labels = { n1: { "node.kubernetes.io/exclude-from-external-load-balancers": "true" } };
  deepEqual(family({ ...clusterRange, labels }).unprogrammedRanges, ["10.96.0.0/16"]);
});

test("balanced addresses of other nodes are put into the kernel where each is announced by itself", () => {
  const ranges = {
    serviceLoadBalancerIPs: [{ cidr: "198.51.100.0/24" }],
    serviceExternalIPs: [{ cidr: "192.0.2.0/24" }],
  };
  deepEqual(family({ global: ranges }).unprogrammedRanges, ["192.0.2.0/24", "198.51.100.0/24"]);
  const oneByOne = { ...ranges, serviceLoadBalancerAggregation: "Disabled" };
  deepEqual(family({ global: oneByOne }).unprogrammedRanges, ["192.0.2.0/24"]);
});

const passwords: { name: string; password: string | undefined; problem: RegExp | undefined; isThere: boolean }[] = [
  { name: "a plain one is used", password: "s3cret;}", problem: undefined, isThere: true },
  { name: "a quote", password: 'a"; protocol', problem: /has a quote/, isThere: false },
  { name: "a new line at the end", password: "secret\n", problem: /ends in a new line/, isThere: false },
  { name: "a control character", password: "a\u0007b", problem: /control character/, isThere: false },
  {
    name: "one that is too long for the kernel",
    password: "x".repeat(81),
    problem: /more than 80 bytes/,
    isThere: false,
  },
  { name: "an empty one", password: "", problem: /is empty/, isThere: false },
  { name: "one that is missing", password: undefined, problem: /there is no password/, isThere: true },
];
for (const { name, password, problem, isThere } of passwords) {
  test(`passwords: ${name}`, () => {
    const reference = { password: { secretKeyRef: { name: "s", key: "k" } } };
    const peers = { tor: { peerIP: "10.9.9.9", asNumber: 65000, ...reference } };
    const given = { peers, secrets: password === undefined ? {} : { "s k": password } };
    equal(names(given).includes("Global_10_9_9_9"), isThere);
    equal(names(given).includes("Mesh_10_0_0_2"), true, "other sessions stay");
    const said = compute(given)
      .problems.map(({ says }) => says)
      .join();
    equal(password !== undefined && password.length > 3 && said.includes(password), false, "no password is said");
    if (problem === undefined) equal(said, "");
    else match(said, problem);
    equal(password !== undefined && password.length > 1 && said.includes(password), false, "it is not told");
  });
}

const ids: { name: string; given: Given; id: string | undefined; problem?: BgpProblem["code"] }[] = [
  { name: "the IPv4 address", given: {}, id: "10.0.0.1" },
  { name: "an address that is set", given: { settings: { routerId: "1.2.3.4" } }, id: "1.2.3.4" },
  { name: "the name's hash", given: { settings: { routerId: "hash" } }, id: "103.107.139.184" },
  { name: "not anything", given: { settings: { routerId: "1; evil" } }, id: undefined, problem: "BGP_ROUTER_ID" },
  {
    name: "none on IPv6 alone",
    given: { nodes: { n1: { bgp: { ipv6Address: "fd00::1/64" } } } },
    id: undefined,
    problem: "BGP_ROUTER_ID",
  },
  { name: "none without a node", given: { nodes: {} }, id: undefined, problem: "BGP_NODE_MISSING" },
];
for (const { name, given, id, problem } of ids) {
  test(`router id: ${name}`, () => {
    equal(compute(given).intent?.routerId, id);
    deepEqual(codes(compute(given)), problem === undefined ? [] : [problem]);
  });
}

const three = { ...twoNodes, n3: { bgp: { ipv4Address: "10.0.0.3/24", ipv6Address: "fd00::3/64" } } };
const wanted: { name: string; given: Given; sessions: readonly string[]; sessions6?: readonly string[] }[] = [
  { name: "a mesh of all", given: { nodes: three }, sessions: ["Mesh_10_0_0_2", "Mesh_10_0_0_3"] },
  { name: "no mesh", given: { nodes: three, global: { nodeToNodeMeshEnabled: false } }, sessions: [] },
  {
    name: "a reflector is in no mesh",
    given: { nodes: { ...three, n2: { bgp: { ipv4Address: "10.0.0.2/24", routeReflectorClusterID: "1.0.0.1" } } } },
    sessions: ["Mesh_10_0_0_3"],
  },
  {
    name: "a node with our address is ourselves",
    given: { nodes: { ...twoNodes, old: twoNodes.n1 } },
    sessions: ["Mesh_10_0_0_2"],
  },
  {
    name: "a port is in the name, but not of the mesh",
    given: { peers: { tor: { peerIP: "10.9.9.9:1790", asNumber: 65000 } }, global: { listenPort: 1791 } },
    sessions: ["Global_10_9_9_9_port_1790", "Mesh_10_0_0_2"],
  },
  {
    name: "a peer of this node beside the same one of all is one session",
    given: {
      peers: { all: { peerIP: "10.9.9.9", asNumber: 65000 }, one: { node: "n1", peerIP: "10.9.9.9", asNumber: 65000 } },
    },
    sessions: ["Global_10_9_9_9", "Mesh_10_0_0_2"],
  },
  {
    name: "by selectors, both families",
    given: {
      nodes: { n1: { bgp: { ipv4Address: "10.0.0.1/24", ipv6Address: "fd00::1/64" } }, n3: three.n3 },
      global: { nodeToNodeMeshEnabled: false },
      labels: { n3: { rr: "" } },
      peers: { rr: { nodeSelector: "!has(rr)", peerSelector: "has(rr)" } },
    },
    sessions: ["Node_10_0_0_3"],
    sessions6: ["Node_fd00__3"],
  },
  {
    name: "the other half of a peering that names us",
    given: {
      global: { nodeToNodeMeshEnabled: false },
      peers: { p: { node: "n2", peerIP: "10.0.0.1", asNumber: 64512 } },
    },
    sessions: ["Node_10_0_0_2"],
  },
  {
    name: "no other half where it is left to others",
    given: {
      global: { nodeToNodeMeshEnabled: false },
      peers: { p: { node: "n2", peerIP: "10.0.0.1", asNumber: 64512, reversePeering: "Manual" } },
    },
    sessions: [],
  },
  {
    name: "no other half for another AS number",
    given: {
      global: { nodeToNodeMeshEnabled: false },
      peers: { p: { node: "n2", peerIP: "10.0.0.1", asNumber: 65000 } },
    },
    sessions: [],
  },
  {
    name: "the other half, whatever the port, where nobody has said on which one we listen",
    given: {
      global: { nodeToNodeMeshEnabled: false },
      peers: { p: { node: "n2", peerIP: "10.0.0.1:1790", asNumber: 64512 } },
    },
    sessions: ["Node_10_0_0_2"],
  },
  {
    name: "no other half for another port than ours",
    given: {
      global: { nodeToNodeMeshEnabled: false, listenPort: 1790 },
      configurations: { "node.n1": { listenPort: 1791 } },
      peers: { p: { node: "n2", peerIP: "10.0.0.1:1790", asNumber: 64512 } },
    },
    sessions: [],
  },
  {
    name: "a workload on this node",
    given: {
      global: { nodeToNodeMeshEnabled: false },
      peers: { w: { localWorkloadSelector: "has(bgp)", asNumber: 65010 } },
      workloads: [
        { peer: "w", 4: "10.1.0.5", 6: undefined },
        { peer: "other", 4: "10.1.0.6", 6: undefined },
      ],
    },
    sessions: ["Local_Workload_10_1_0_5"],
  },
];
for (const { name, given, sessions: four, sessions6 = [] } of wanted) {
  test(`sessions: ${name}`, () => {
    deepEqual(names(given), four);
    deepEqual(names(given, 6), sessions6);
  });
}

test("of two ends of the mesh, the one waits whose peer's address is the greater text", () => {
  const nodes = { n1: { bgp: { ipv4Address: "10.0.0.10/24" } }, n2: { bgp: { ipv4Address: "10.0.0.9/24" } } };
  equal(session({ nodes }, "Mesh_10_0_0_9").isPassive, true);
  equal(session({}, "Mesh_10_0_0_2").isPassive, true);
});

test("an address that is a node's has that node's port", () => {
  const given = {
    configurations: { "node.n2": { listenPort: 1799 } },
    global: { nodeToNodeMeshEnabled: false },
    peers: { p: { peerIP: "10.0.0.2", asNumber: 64512 } },
  };
  deepEqual(names(given), ["Global_10_0_0_2_port_1799"]);
});

test("a reflector's clients are those of no cluster, or of another", () => {
  const id = (routeReflectorClusterID: string) => ({ routeReflectorClusterID });
  const nodes = {
    n1: { bgp: { ipv4Address: "10.0.0.1/24", ...id("1.0.0.1") } },
    n2: { bgp: { ipv4Address: "10.0.0.2/24", ...id("1.0.0.1") } },
    n3: { bgp: { ipv4Address: "10.0.0.3/24" } },
  };
  const given = { nodes, peers: { all: { nodeSelector: "all()", peerSelector: "all()" } } };
  equal(session(given, "Node_10_0_0_2").clusterId, undefined);
  equal(session(given, "Node_10_0_0_3").clusterId, "1.0.0.1");
});

test("blocks that are about to go are blackholes still, and pending ones are none", () => {
  const given = {
    blocks: {
      "10.1.0.0/26": "confirmed",
      "10.1.0.64/26": "pendingDeletion",
      "10.1.0.128/26": "pending",
      "10.1.1.1/32": "confirmed",
    },
  };
  deepEqual(family(given).blackholes, ["10.1.0.0/26", "10.1.0.64/26"]);
  deepEqual(family(given).ownBlocks, ["10.1.0.0/26", "10.1.1.1/32"]);
});

test("IPIP is left to the agent where this BIRD cannot do it, and that is said", () => {
  const pools = { "10.1.0.0/16": { ipip_mode: "always" } };
  const global = { programClusterRoutes: "Enabled" };
  deepEqual(family({ pools, global }).kernelPools, [{ cidr: "10.1.0.0/16", how: "leave" }]);
  deepEqual(codes(compute({ pools, global })), ["BGP_IPIP"]);
  deepEqual(family({ pools, global, settings: { canTunnel: true } }).kernelPools, [
    { cidr: "10.1.0.0/16", how: "tunnel" },
  ]);
});

test("a node's prefix advertisements take the place of the cluster's, and unknown names are dropped", () => {
  const global = {
    communities: [{ name: "c", value: "65000:1" }],
    prefixAdvertisements: [{ cidr: "10.1.0.0/16", communities: ["c", "gone", "1:2:3"] }],
  };
  deepEqual(family({ global }).communities, [
    {
      cidr: "10.1.0.0/16",
      values: [
        [65000, 1],
        [1, 2, 3],
      ],
    },
  ]);
  deepEqual(codes(compute({ global })), ["BGP_COMMUNITY"]);
  const configurations = {
    "node.n1": { prefixAdvertisements: [{ cidr: "10.2.0.0/16", communities: ["65000:9", "c"] }] },
  };
  deepEqual(family({ global, configurations }).communities, [{ cidr: "10.2.0.0/16", values: [[65000, 9]] }]);
});

test("an object that cannot be read counts as missing, and is named", () => {
  const computed = compute({ peers: { bad: { peerIP: 7 }, worse: { peerIP: "nowhere", asNumber: 1 } } });
  deepEqual(codes(computed).sort(), ["BGP_OBJECT", "BGP_PEER"]);
});
