// A healthy cluster of two nodes as facts, and what is found when one thing about it is different: with IPv4, with IPv6, and where one family is broken
// and the other is not.
import { deepEqual, match } from "node:assert/strict";
import { test } from "node:test";
import { diagnose, diagnoseFamily } from "./diagnose.ts";
import type { ClusterFacts, Facts, HostFacts, Probe } from "./facts.ts";
import { type ByFamily, factsOf, type WholeFacts } from "./families.ts";
import { interfaceOf } from "./pod-interface.ts";

const cluster: ClusterFacts = {
  family: 4,
  datastoreReady: true,
  nodes: [
    { name: "n1", address: "172.31.0.11/24", internalAddresses: ["172.31.0.11"] },
    { name: "n2", address: "172.31.0.12/24", internalAddresses: ["172.31.0.12"] },
  ],
  pools: [{ name: "pool", cidr: "10.244.0.0/18", vxlan: "Never", ipip: "Never", isDisabled: false }],
  blocks: [
    { cidr: "10.244.1.0/26", node: "n1", inUse: 1 },
    { cidr: "10.244.2.0/26", node: "n2", inUse: 1 },
  ],
  affinities: [
    { cidr: "10.244.1.0/26", node: "n1", state: "confirmed" },
    { cidr: "10.244.2.0/26", node: "n2", state: "confirmed" },
  ],
  pods: [
    { namespace: "default", name: "a", node: "n1", address: "10.244.1.0", phase: "Running", asksForPools: [] },
    { namespace: "default", name: "b", node: "n2", address: "10.244.2.0", phase: "Running", asksForPools: [] },
  ],
  isMeshOn: true,
  serviceRanges: ["10.96.0.1/32"],
  unreadable: [],
};

function hostOf(own: 1 | 2): HostFacts {
  const other = own === 1 ? 2 : 1;
  const [node, pod] = [`n${own}`, own === 1 ? "a" : "b"];
  const [far, farPod] = [`n${other}`, own === 1 ? "b" : "a"];
  const base = { from: node, fromNode: node, ok: true } as const;
  const toPod = { to: `default/${farPod}`, node: far, address: `10.244.${other}.0` };
  return {
    node,
    nameFrom: "NODENAME",
    links: [
      { name: "eth0", isUp: true, mtu: 1500 },
      { name: interfaceOf("default", pod), kind: "veth", isUp: true, mtu: 1500 },
    ],
    addresses: [{ link: "eth0", address: `172.31.0.1${own}/24` }],
    routes: [
      { destination: "0.0.0.0/0", type: "unicast", protocol: "boot", gateway: "172.31.0.254", link: "eth0" },
      {
        destination: `10.244.${other}.0/26`,
        type: "unicast",
        protocol: "80",
        gateway: `172.31.0.1${other}`,
        link: "eth0",
      },
    ],
    lookups: [
      { to: `10.244.${other}.0`, type: "unicast", gateway: `172.31.0.1${other}`, link: "eth0" },
      { to: `10.244.${own}.0`, type: "unicast", link: interfaceOf("default", pod) },
    ],
    sysctls: { "net.ipv4.ip_forward": "1", "net.ipv4.conf.all.rp_filter": "0", "net.ipv4.conf.eth0.rp_filter": "0" },
    foreignDrops: [],
    ruleOwners: ["cattail"],
    cni: { file: "/etc/cni/net.d/10-calico.conflist", nodeNameFile: node },
    probes: [
      { ...base, kind: "node", to: far, node: far, address: `172.31.0.1${other}` },
      { ...base, kind: "large", to: far, node: far, address: `172.31.0.1${other}`, tried: 1500 },
      { ...base, kind: "pod", to: `default/${pod}`, node, address: `10.244.${own}.0` },
      { ...base, kind: "pod", ...toPod },
      { ...base, kind: "arrival", ...toPod },
      { ...base, kind: "pod to pod", from: `default/${pod}`, ...toPod },
    ],
    verdicts: [],
    features: [],
    notLookedAt: [],
  };
}

const nowMs = Date.parse("2026-01-01T00:00:00Z");
const healthy: Facts = { cluster, hosts: [hostOf(1), hostOf(2)], nowMs };

const onCluster = (change: Partial<ClusterFacts>): Facts => ({ ...healthy, cluster: { ...cluster, ...change } });
const onHost = (change: (host: HostFacts) => Partial<HostFacts>, only?: string): Facts => ({
  ...healthy,
  hosts: healthy.hosts.map((host) => (only === undefined || host.node === only ? { ...host, ...change(host) } : host)),
});
const failing =
  (...kinds: Probe["kind"][]) =>
  (host: HostFacts) => ({
    probes: host.probes.map((probe) => {
      const isAcross = probe.node !== host.node;
      return kinds.includes(probe.kind) && isAcross ? { ...probe, ok: false } : probe;
    }),
  });
const both =
  (...changes: ((host: HostFacts) => Partial<HostFacts>)[]) =>
  (host: HostFacts) => {
    let changed = host;
    for (const change of changes) changed = { ...changed, ...change(changed) };
    return changed;
  };
const podsSilent = failing("pod", "pod to pod", "arrival");
const session = (state: string) => (host: HostFacts) => ({
  bird: { socket: "s", sessions: [{ address: host.node === "n1" ? "172.31.0.12" : "172.31.0.11", state, info: "" }] },
});
const lookup = (change: object) => (host: HostFacts) => ({
  lookups: host.lookups.map((each) => (each.gateway === undefined ? each : { ...each, ...change })),
});

const cases: { name: string; facts: Facts; finds: string[] }[] = [
  { name: "a healthy cluster", facts: healthy, finds: [] },
  { name: "one host alone that is well", facts: { ...healthy, hosts: [hostOf(1)] }, finds: [] },
  { name: "a locked datastore", facts: onCluster({ datastoreReady: false }), finds: ["DATASTORE_LOCKED"] },
  {
    name: "a right that is missing",
    facts: onCluster({ unreadable: [{ what: "IPPool", why: "may not list ippools", rule: "- verbs: [list]" }] }),
    finds: ["NODE_RIGHTS_MISSING"],
  },
  {
    name: "a kind that is not there",
    facts: onCluster({ unreadable: [{ what: "IPPool", why: "no such kind" }] }),
    finds: ["DATASTORE_UNREADABLE"],
  },
  {
    name: "two nodes with one address, whose pods then do not answer",
    facts: {
      ...onHost(podsSilent),
      cluster: { ...cluster, nodes: cluster.nodes.map((node) => ({ ...node, address: "172.31.0.11/24" })) },
    },
    finds: ["NODE_ADDRESS_DUPLICATE"],
  },
  {
    name: "two nodes with one address, whose session is down",
    facts: {
      ...onHost(both(podsSilent, session("Active"))),
      cluster: { ...cluster, nodes: cluster.nodes.map((node) => ({ ...node, address: "172.31.0.11/24" })) },
    },
    finds: ["NODE_ADDRESS_DUPLICATE"],
  },
  {
    name: "two nodes with one address, whose BIRDs wait for each other",
    facts: {
      ...onHost((host) => ({
        ...podsSilent(host),
        bird: { ...session("Active")(host).bird, waits: "Wait timer is 212/240" },
      })),
      cluster: { ...cluster, nodes: cluster.nodes.map((node) => ({ ...node, address: "172.31.0.11/24" })) },
    },
    finds: ["NODE_ADDRESS_DUPLICATE"],
  },
  {
    name: "a node without an address",
    facts: onCluster({
      nodes: [
        { name: "n1", address: "172.31.0.11/24", internalAddresses: [] },
        { name: "n2", internalAddresses: [] },
      ],
    }),
    finds: ["NODE_ADDRESS_MISSING"],
  },
  {
    name: "an address that is not the InternalIP",
    facts: onCluster({ nodes: cluster.nodes.map((node) => ({ ...node, internalAddresses: ["10.0.2.15"] })) }),
    finds: ["NODE_ADDRESS_OTHER", "NODE_ADDRESS_OTHER"],
  },
  {
    name: "an address that the host has no more",
    facts: onHost((host) => ({ addresses: [{ link: "eth0", address: "172.31.0.33/24" }], ...podsSilent(host) }), "n2"),
    finds: ["NODE_ADDRESS_STALE"],
  },
  {
    name: "two networks without encapsulation",
    facts: {
      ...onHost(both(podsSilent, lookup({ gateway: "172.31.0.254" }))),
      cluster: {
        ...cluster,
        nodes: [
          { name: "n1", address: "172.31.0.11/24", internalAddresses: [] },
          { name: "n2", address: "172.31.1.12/24", internalAddresses: [] },
        ],
      },
      hosts: onHost(both(podsSilent, lookup({ gateway: "172.31.0.254" }))).hosts.map((host) =>
        host.node === "n2" ? { ...host, addresses: [{ link: "eth0", address: "172.31.1.12/24" }] } : host,
      ),
    },
    finds: ["SUBNETS_WITHOUT_ENCAPSULATION"],
  },
  {
    name: "a pod that asks for a disabled pool",
    facts: onCluster({
      pods: [
        ...cluster.pods,
        { namespace: "default", name: "c", node: "n1", phase: "Pending", asksForPools: ["other"] },
      ],
    }),
    finds: ["POOL_ASKED_IS_DISABLED"],
  },
  {
    name: "no pool that is enabled",
    facts: onCluster({ pools: cluster.pools.map((pool) => ({ ...pool, isDisabled: true })) }),
    finds: ["POOL_NONE_ENABLED"],
  },
  {
    name: "a pool over the services",
    facts: onCluster({ serviceRanges: ["10.244.3.1/32"] }),
    finds: ["POOL_OVERLAP"],
  },
  {
    name: "a block of a node that is gone",
    facts: onCluster({ blocks: [...cluster.blocks, { cidr: "10.244.9.0/26", node: "n9", inUse: 3 }] }),
    finds: ["BLOCK_WITHOUT_NODE"],
  },
  {
    name: "forwarding that is off, and the silence it brings",
    facts: {
      ...healthy,
      hosts: [
        { ...hostOf(1), ...podsSilent(hostOf(1)) },
        { ...hostOf(2), ...podsSilent(hostOf(2)), sysctls: { "net.ipv4.ip_forward": "0" } },
      ],
    },
    finds: ["FORWARDING_OFF"],
  },
  {
    name: "a strict filter with a way back by another interface",
    facts: onHost(
      both(podsSilent, lookup({ link: "eth1", gateway: undefined }), () => ({
        sysctls: { "net.ipv4.ip_forward": "1", "net.ipv4.conf.all.rp_filter": "1" },
      })),
      "n2",
    ),
    finds: ["REVERSE_PATH_FILTER"],
  },
  {
    name: "the same way back without the filter",
    facts: onHost(both(podsSilent, lookup({ link: "eth1", gateway: undefined })), "n2"),
    finds: ["ROUTE_WRONG"],
  },
  {
    name: "Docker's FORWARD",
    facts: onHost(
      both(podsSilent, () => ({
        foreignDrops: [
          { families: [4], table: "ip filter", chain: "FORWARD", what: "its policy is drop", command: "nft" },
        ],
      })),
      "n2",
    ),
    finds: ["FOREIGN_FORWARD_DROP"],
  },
  { name: "large packets that vanish", facts: onHost(failing("large"), "n2"), finds: ["MTU_PATH"] },
  {
    name: "a session that is down, and no routes",
    facts: onHost(both(podsSilent, session("Active"), lookup({ gateway: "172.31.0.254" }))),
    finds: ["BGP_SESSION_DOWN", "BGP_SESSION_DOWN"],
  },
  {
    name: "a session with a node that does not answer at all",
    facts: onHost(both(failing("node", "large", "pod", "pod to pod", "arrival"), session("Active")), "n1"),
    finds: ["NODE_UNREACHABLE"],
  },
  {
    name: "a BIRD that waits",
    facts: onHost(
      (host) => ({
        ...podsSilent(host),
        bird: {
          socket: "s",
          sessions: [{ address: "172.31.0.12", state: "Passive", info: "" }],
          waits: "Wait timer is 212/240",
        },
      }),
      "n1",
    ),
    finds: ["BGP_WAITS"],
  },
  {
    name: "a route that is gone",
    facts: onHost(
      both(podsSilent, lookup({ gateway: "172.31.0.254" }), (host) => ({ routes: host.routes.slice(0, 1) })),
      "n1",
    ),
    finds: ["ROUTE_MISSING"],
  },
  { name: "an underlay that drops addresses of pods", facts: onHost(podsSilent), finds: ["UNDERLAY_DROPS_PODS"] },
  {
    name: "the same, seen from one side only",
    facts: { ...healthy, hosts: [{ ...hostOf(1), ...podsSilent(hostOf(1)) }] },
    finds: ["UNDERLAY_DROPS_PODS"],
  },
  {
    name: "an underlay that drops them on the way back",
    facts: onHost(failing("pod", "pod to pod")),
    finds: ["UNDERLAY_DROPS_PODS"],
  },
  {
    name: "a policy that denies",
    facts: onHost((host) => ({
      ...failing("pod", "pod to pod")(host),
      verdicts: host.probes.map(({ from, to }) => ({ family: 4, from, to, verdict: "deny", by: "NetworkPolicy x" })),
    })),
    finds: ["POLICY_DENIES"],
  },
  {
    name: "a node that does not answer",
    facts: onHost(failing("node", "large", "pod", "pod to pod", "arrival"), "n1"),
    finds: ["NODE_UNREACHABLE"],
  },
  {
    name: "a pod that is silent at home, too",
    facts: onHost((host) => ({
      probes: host.probes.map((probe) =>
        probe.to === "default/b" && probe.kind !== "arrival" ? { ...probe, ok: false } : probe,
      ),
    })),
    finds: ["POD_SILENT"],
  },
  {
    name: "a kubeconfig that has expired",
    facts: onHost(
      ({ cni }) => ({ cni: { ...cni, credentials: { file: "k", of: "certificate", expiresMs: nowMs - 1 } } }),
      "n1",
    ),
    finds: ["CNI_CREDENTIALS_EXPIRED"],
  },
  {
    name: "a plugin whose account lacks a right",
    facts: onHost(
      ({ cni }) => ({ cni: { ...cni, missingRights: [{ what: "list IPReservation", why: "may not", rule: "- r" }] } }),
      "n1",
    ),
    finds: ["NODE_RIGHTS_MISSING"],
  },
  {
    name: "one that will soon",
    facts: onHost(
      ({ cni }) => ({ cni: { ...cni, credentials: { file: "k", of: "certificate", expiresMs: nowMs + 1 } } }),
      "n1",
    ),
    finds: ["CNI_CREDENTIALS_EXPIRE_SOON"],
  },
  {
    name: "a token that lives for a day",
    facts: onHost(({ cni }) => ({ cni: { ...cni, credentials: { file: "k", of: "token", expiresMs: nowMs + 1 } } })),
    finds: [],
  },
  {
    name: "no configuration of the plugin",
    facts: onHost(() => ({ cni: { nodeNameFile: "n1" } }), "n1"),
    finds: ["CNI_CONFIGURATION_MISSING"],
  },
  {
    name: "a name file of another node",
    facts: onHost(({ cni }) => ({ cni: { ...cni, nodeNameFile: "n7" } }), "n1"),
    finds: ["NODE_NAME_FILE"],
  },
  {
    name: "a host that nobody knows",
    facts: { ...healthy, hosts: [{ ...hostOf(1), node: "n7", cni: { file: "f", nodeNameFile: "n7" }, probes: [] }] },
    finds: ["NODE_UNKNOWN"],
  },
  {
    name: "an interface that no pod has",
    facts: onHost(
      ({ links }) => ({ links: [...links, { name: "cali0123456789a", kind: "veth", isUp: true, mtu: 1500 }] }),
      "n1",
    ),
    finds: ["LEFTOVER_INTERFACE"],
  },
  {
    name: "a kernel without nftables",
    facts: onHost(() => ({ features: [{ name: "nftables", isThere: false, says: "ENOENT" }] }), "n1"),
    finds: ["KERNEL_FEATURE"],
  },
  {
    name: "rules of two agents",
    facts: onHost(() => ({ ruleOwners: ["cattail", "calico"] }), "n1"),
    finds: ["AGENTS_TWO"],
  },
  {
    name: "a Typha that cannot be reached",
    facts: onHost(() => ({ typha: { address: "10.0.0.1:5473", problem: "ECONNREFUSED" } }), "n1"),
    finds: ["NODE_TYPHA_UNREACHABLE"],
  },
];

/** The same cluster with other addresses. */
function inIpv6(facts: Facts): Facts {
  const text = JSON.stringify(facts)
    .replaceAll(/172\.31\.(\d+)\.(\d+)\/24/g, "fd00:172:31:$1::$2/64")
    .replaceAll(/172\.31\.(\d+)\.(\d+)/g, "fd00:172:31:$1::$2")
    .replaceAll("10.244.0.0/18", "fd00:10:244::/48")
    .replaceAll(/10\.244\.(\d+)\.0\/26/g, "fd00:10:244:$1::/122")
    .replaceAll(/10\.244\.(\d+)\.\d+\/32/g, "fd00:10:244:$1::1/128")
    .replaceAll(/10\.244\.(\d+)\.0/g, "fd00:10:244:$1::")
    .replaceAll("10.96.0.1/32", "fd00:96::1/128")
    .replaceAll("0.0.0.0/0", "::/0")
    .replaceAll("10.0.2.15", "fd00:2::15")
    .replaceAll("net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding")
    .replaceAll('"ip filter"', '"ip6 filter"')
    .replaceAll('"family":4', '"family":6')
    .replaceAll('"families":[4]', '"families":[6]');
  return JSON.parse(text) as Facts; // of the same form
}

/** As they are read: the facts of both families in one. */
function whole(four: Facts, six: Facts): WholeFacts {
  const both = <T>(one: T | undefined, other: T | undefined): ByFamily<T> => ({
    ...(one === undefined ? {} : { 4: one }),
    ...(other === undefined ? {} : { 6: other }),
  });
  const { family: _, ...rest } = four.cluster;
  return {
    nowMs: four.nowMs,
    cluster: {
      ...rest,
      nodes: four.cluster.nodes.map(({ address, tunnelAddress, ...node }, at) => ({
        ...node,
        internalAddresses: [...node.internalAddresses, ...(six.cluster.nodes[at]?.internalAddresses ?? [])],
        addresses: both(address, six.cluster.nodes[at]?.address),
        tunnelAddresses: both(tunnelAddress, six.cluster.nodes[at]?.tunnelAddress),
      })),
      pods: four.cluster.pods.map(({ address, asksForPools, ...pod }, at) => ({
        ...pod,
        addresses: both(address, six.cluster.pods[at]?.address),
        asksForPools: both(asksForPools, six.cluster.pods[at]?.asksForPools),
      })),
      pools: [...four.cluster.pools, ...six.cluster.pools],
      blocks: [...four.cluster.blocks, ...six.cluster.blocks],
      affinities: [...four.cluster.affinities, ...six.cluster.affinities],
      serviceRanges: [...four.cluster.serviceRanges, ...six.cluster.serviceRanges],
    },
    hosts: four.hosts.map((host, at) => {
      const other = six.hosts[at] ?? host;
      const lists = ["addresses", "routes", "lookups", "foreignDrops", "probes", "verdicts"] as const;
      const merged = Object.fromEntries(lists.map((name) => [name, [...host[name], ...other[name]]]));
      const sessions = [...(host.bird?.sessions ?? []), ...(other.bird?.sessions ?? [])];
      const bird = host.bird ?? other.bird;
      return {
        ...host,
        ...merged,
        sysctls: { ...other.sysctls, ...host.sysctls },
        ...(bird === undefined ? {} : { bird: { ...bird, sessions } }),
      };
    }),
  };
}

const codesOf = (findings: readonly { readonly code: string }[]) => findings.map(({ code }) => code);
/** IPv6 has no reverse path filter in its kernel's settings: a way back by another interface is a wrong route there. */
const inSix = (finds: readonly string[]) =>
  finds.map((code) => (code === "REVERSE_PATH_FILTER" ? "ROUTE_WRONG" : code));

for (const { name, facts, finds } of cases) {
  test(`diagnosis: ${name}`, () => deepEqual(codesOf(diagnoseFamily(facts)), finds));
  test(`diagnosis with IPv6: ${name}`, () => deepEqual(codesOf(diagnoseFamily(inIpv6(facts))), inSix(finds)));
}

test("both families: each is looked at by itself, and what is wrong with both is told once", () => {
  const [silent, quiet] = [onHost(podsSilent), inIpv6(healthy)];
  deepEqual(codesOf(diagnose(whole(healthy, quiet))), []);
  deepEqual(factsOf(whole(healthy, quiet), 6).cluster, quiet.cluster);
  deepEqual(codesOf(diagnose(whole(silent, quiet))), ["UNDERLAY_DROPS_PODS"]);
  const [six] = diagnose(whole(healthy, inIpv6(silent)));
  deepEqual(six?.code, "UNDERLAY_DROPS_PODS");
  match(six?.what ?? "", /IPv6 packets with addresses of pods do not arrive/);
  const locked = onCluster({ datastoreReady: false });
  deepEqual(codesOf(diagnose(whole(locked, inIpv6(locked)))), ["DATASTORE_LOCKED"]);
});

test("both families: a BIRD that waits for sessions of one only is that one's business", () => {
  const waits = "Wait timer is 212/240";
  const waiting = (state: string) =>
    onHost((host) => ({ ...podsSilent(host), bird: { ...session(state)(host).bird, waits } }), "n1");
  const [found, ...more] = diagnose(whole(waiting("Established"), inIpv6(waiting("Passive"))));
  deepEqual([found?.code, more.length], ["BGP_WAITS", 0]);
  match(found?.evidence.join() ?? "", /Passive/);
});

test("what is seen from one side only says what was not looked at", () => {
  const [found] = diagnoseFamily({ ...healthy, hosts: [{ ...hostOf(1), ...podsSilent(hostOf(1)) }] });
  match(found?.evidence.join("\n") ?? "", /not looked at: n2; run cattail doctor node there/);
});
