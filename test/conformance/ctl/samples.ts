// One object of every kind that can be written with ctl, with fields of every shape: numbers, durations, ports, nested lists.
import type { JsonRecord } from "../../../src/base/lib/index.ts";

const v3 = (kind: string, name: string, spec: object, namespace?: string): JsonRecord => ({
  apiVersion: "projectcalico.org/v3",
  kind,
  metadata: {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: { app: "web", "example.com/yes": "true" },
    annotations: { note: 'say "a: b" # not a comment', empty: "" },
  },
  spec,
});

const rules = [
  {
    action: "Allow",
    protocol: "TCP",
    source: { selector: "role == 'frontend'", nets: ["10.0.0.0/8"], notPorts: [1, "5:9"] },
    destination: { ports: [80, "8080:8090", "http"] },
    metadata: { annotations: { why: "it's needed" } },
  },
  { action: "Deny", protocol: 47, notProtocol: "UDP", source: { namespaceSelector: "all()" } },
  { action: "Log", protocol: "ICMP", icmp: { type: 8, code: 0 } },
];

/** In the order in which they can be made. */
export const samples: readonly JsonRecord[] = [
  v3("Tier", "shop", { order: 12.5, defaultAction: "Pass" }),
  v3("IPPool", "pool-v4", { cidr: "10.20.0.0/16", blockSize: 24, natOutgoing: true, vxlanMode: "CrossSubnet" }),
  v3("IPPool", "pool-v6", { cidr: "fd00:20::/64", disabled: true, allowedUses: ["Workload"] }),
  v3("IPReservation", "kept", { reservedCIDRs: ["10.20.1.0/24", "10.20.2.7/32"] }),
  v3("BGPFilter", "filter", {
    exportV4: [{ action: "Accept", matchOperator: "In", cidr: "77.0.0.0/16", prefixLength: { min: 16, max: 24 } }],
    importV6: [{ action: "Reject", interface: "*.calico" }],
  }),
  v3("BGPPeer", "peer", {
    peerIP: "192.0.2.1:1790",
    asNumber: 65010,
    nodeSelector: "has(rack)",
    filters: ["filter"],
  }),
  v3("BGPConfiguration", "default", {
    asNumber: 64513,
    nodeToNodeMeshEnabled: false,
    serviceClusterIPs: [{ cidr: "10.96.0.0/12" }],
    communities: [{ name: "c", value: "1:2" }],
    prefixAdvertisements: [{ cidr: "10.20.0.0/16", communities: ["c"] }],
  }),
  v3("FelixConfiguration", "default", {
    logSeverityScreen: "Info",
    iptablesRefreshInterval: "1m30s",
    failsafeInboundHostPorts: [{ protocol: "TCP", port: 22 }],
    routeTableRanges: [{ min: 1, max: 250 }],
    bpfLogLevel: "Off",
    healthTimeoutOverrides: [{ name: "a", timeout: "5s" }],
  }),
  v3("GlobalNetworkPolicy", "shop.global", {
    tier: "shop",
    order: 1e6,
    selector: "all()",
    ingress: rules,
    egress: [{ action: "Pass" }],
    applyOnForward: true,
    preDNAT: false,
  }),
  v3(
    "NetworkPolicy",
    "local",
    { selector: "app == 'web'", serviceAccountSelector: "has(x)", egress: rules },
    "default",
  ),
  v3("StagedGlobalNetworkPolicy", "staged", { stagedAction: "Set", tier: "shop", ingress: rules }),
  v3("StagedNetworkPolicy", "staged", { stagedAction: "Delete", tier: "default" }, "default"),
  v3(
    "StagedKubernetesNetworkPolicy",
    "staged",
    {
      stagedAction: "Set",
      podSelector: { matchLabels: { app: "web" }, matchExpressions: [{ key: "a", operator: "In", values: ["b"] }] },
      ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } }], ports: [{ port: 80 }] }],
      policyTypes: ["Ingress"],
    },
    "default",
  ),
  v3("GlobalNetworkSet", "nets", { nets: ["10.1.0.0/16", "fd00::/8"] }),
  v3("NetworkSet", "nets", { nets: ["192.0.2.1"] }, "default"),
  v3("HostEndpoint", "host", {
    node: "n1",
    interfaceName: "eth0",
    expectedIPs: ["10.0.0.1"],
    profiles: ["p"],
    ports: [{ name: "http", protocol: "TCP", port: 80 }],
  }),
  v3("KubeControllersConfiguration", "default", {
    logSeverityScreen: "Warning",
    etcdV3CompactionPeriod: "10m",
    controllers: { node: { syncLabels: "Enabled", hostEndpoint: { autoCreate: "Disabled" } } },
  }),
  v3("IPAMConfiguration", "default", { strictAffinity: true, autoAllocateBlocks: true, maxBlocksPerHost: 5 }),
  v3("CalicoNodeStatus", "status", { node: "n1", classes: ["Agent", "BGP"], updatePeriodSeconds: 30 }),
];

/** Kubernetes has these itself, as views of other objects; in etcd they are objects like any. */
export const etcdSamples: readonly JsonRecord[] = [
  v3("Node", "n1", {
    bgp: { ipv4Address: "10.0.0.1/24", asNumber: 65001, routeReflectorClusterID: "1.2.3.4" },
    orchRefs: [{ nodeName: "n1", orchestrator: "k8s" }],
    addresses: [{ address: "10.0.0.1/24", type: "CalicoNodeIP" }],
  }),
  v3("Profile", "p", { ingress: rules, egress: [{ action: "Allow" }], labelsToApply: { a: "b" } }),
  v3(
    "WorkloadEndpoint",
    "n1-k8s-web-eth0",
    {
      node: "n1",
      orchestrator: "k8s",
      pod: "web",
      endpoint: "eth0",
      containerID: "abc",
      interfaceName: "cali123",
      ipNetworks: ["10.20.0.5/32"],
      mac: "ee:ee:ee:ee:ee:ee",
      profiles: ["p"],
      ports: [{ name: "http", protocol: "TCP", port: 80 }],
      ipNATs: [{ internalIP: "10.20.0.5", externalIP: "192.0.2.9" }],
    },
    "default",
  ),
];

/** The same as the text of a file. */
export function asFile(objects: readonly unknown[]): string {
  return objects.map((object) => JSON.stringify(object, null, 2)).join("\n---\n");
}
