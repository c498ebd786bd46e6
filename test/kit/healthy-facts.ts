// A healthy cluster of two nodes as the doctor's facts, and ways to make one thing about it different.
import type { ClusterFacts, Facts, HostFacts, Probe } from "../../src/node/diagnosis/facts.ts";
import type { ByFamily, WholeFacts } from "../../src/node/diagnosis/families.ts";
import { interfaceOf } from "../../src/node/diagnosis/pod-interface.ts";

export const cluster: ClusterFacts = {
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

export function hostOf(own: 1 | 2): HostFacts {
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

export const nowMs = Date.parse("2026-01-01T00:00:00Z");
export const healthy: Facts = { cluster, hosts: [hostOf(1), hostOf(2)], nowMs };

export const onCluster = (change: Partial<ClusterFacts>): Facts => ({ ...healthy, cluster: { ...cluster, ...change } });
export const onHost = (change: (host: HostFacts) => Partial<HostFacts>, only?: string): Facts => ({
  ...healthy,
  hosts: healthy.hosts.map((host) => (only === undefined || host.node === only ? { ...host, ...change(host) } : host)),
});
export const failing =
  (...kinds: Probe["kind"][]) =>
  (host: HostFacts) => ({
    probes: host.probes.map((probe) => {
      const isAcross = probe.node !== host.node;
      return kinds.includes(probe.kind) && isAcross ? { ...probe, ok: false } : probe;
    }),
  });
export const both =
  (...changes: ((host: HostFacts) => Partial<HostFacts>)[]) =>
  (host: HostFacts) => {
    let changed = host;
    for (const change of changes) changed = { ...changed, ...change(changed) };
    return changed;
  };
export const podsSilent = failing("pod", "pod to pod", "arrival");
export const session = (state: string) => (host: HostFacts) => ({
  bird: { socket: "s", sessions: [{ address: host.node === "n1" ? "172.31.0.12" : "172.31.0.11", state, info: "" }] },
});
export const lookup = (change: object) => (host: HostFacts) => ({
  lookups: host.lookups.map((each) => (each.gateway === undefined ? each : { ...each, ...change })),
});

/** The same cluster with other addresses. */
export function inIpv6(facts: Facts): Facts {
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

export const codesOf = (findings: readonly { readonly code: string }[]) => findings.map(({ code }) => code);
/** IPv6 has no reverse path filter in its kernel's settings: a way back by another interface is a wrong route there. */
export const inSix = (finds: readonly string[]) =>
  finds.map((code) => (code === "REVERSE_PATH_FILTER" ? "ROUTE_WRONG" : code));

/** As they are read: the facts of both families in one. */
export function whole(four: Facts, six: Facts): WholeFacts {
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
