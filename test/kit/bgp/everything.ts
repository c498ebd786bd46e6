// All that can be asked of BGP at once, as key/values, and BIRD's configuration made of it.
import { computeBgp } from "../../../src/node/bird/model/compute.ts";
import { BgpObjects } from "../../../src/node/bird/model/objects.ts";
import { type ConfigurationFiles, renderBird } from "../../../src/node/bird/render/render.ts";

const root = "/calico/resources/v3/projectcalico.org";
export type Objects = { readonly [path: string]: object };

const usual = {
  metadata: { labels: { rack: "a" } },
  spec: {
    bgp: {
      ipv4Address: "10.0.0.1/24",
      ipv6Address: "fd00::1/64",
      asNumber: 65001,
      routeReflectorClusterID: "244.0.0.1",
    },
    wireguard: { interfaceIPv4Address: "10.1.0.9", interfaceIPv6Address: "fd01::9" },
  },
};
const rules = (cidr: string) => [
  { cidr, matchOperator: "In", prefixLength: { min: 24, max: 30 }, action: "Reject" },
  { cidr, matchOperator: "NotEqual", source: "RemotePeers", peerType: "eBGP", action: "Reject" },
  { cidr, matchOperator: "NotIn", interface: "eth*", peerType: "iBGP", action: "Accept" },
  { communities: { values: ["65000:1"] }, asPathPrefix: [65000, 65001], priority: 512, action: "Reject" },
  {
    communities: { values: ["65000:1:2"] },
    action: "Accept",
    operations: [
      { addCommunity: { value: "1:2" } },
      { addCommunity: { value: "1:2:3" } },
      { prependASPath: { prefix: [1, 2] } },
      { setPriority: { value: 900 } },
    ],
  },
  { action: "Accept" },
];
export const everything: Objects = {
  [`${root}/nodes/n1`]: usual,
  [`${root}/nodes/n2`]: {
    spec: { bgp: { ipv4Address: "10.0.0.2/24", ipv6Address: "fd00::2/64" }, wireguard: usual.spec.wireguard },
  },
  [`${root}/nodes/n3`]: {
    metadata: { labels: { rack: "b" } },
    spec: { bgp: { ipv4Address: "10.0.0.3/24", ipv6Address: "fd00::3/64" } },
  },
  [`${root}/bgpconfigurations/default`]: {
    spec: {
      logSeverityScreen: "Debug",
      bindMode: "NodeIP",
      listenPort: 1790,
      ignoredInterfaces: ["docker*", "eth1"],
      communities: [{ name: "c", value: "65000:7" }],
      prefixAdvertisements: [
        { cidr: "10.244.0.0/16", communities: ["c", "1:2:3"] },
        { cidr: "fd44::/48", communities: ["c"] },
      ],
      serviceClusterIPs: [{ cidr: "10.96.0.0/16" }, { cidr: "fd96::/112" }],
      serviceExternalIPs: [{ cidr: "192.0.2.0/24" }],
      serviceLoadBalancerIPs: [{ cidr: "198.51.100.0/24" }],
      programClusterRoutes: "Enabled",
      ipv4NormalRoutePriority: 2000,
      nodeMeshMaxRestartTime: "90s",
    },
  },
  [`${root}/bgpfilters/${"very-".repeat(12)}long`]: {
    spec: {
      importV4: rules("10.9.0.0/16"),
      exportV4: rules("10.9.0.0/16"),
      importV6: rules("fd09::/32"),
      exportV6: rules("fd09::/32"),
    },
  },
  [`${root}/bgppeers/all`]: {
    spec: {
      nodeSelector: "all()",
      peerSelector: "all()",
      filters: [`${"very-".repeat(12)}long`, "missing"],
      keepaliveTime: "20s",
      maxRestartTime: "1m",
      ttlSecurity: 2,
    },
  },
  [`${root}/bgppeers/tor4`]: {
    spec: {
      peerIP: "10.0.0.201:1799",
      asNumber: 65100,
      localASNumber: 65200,
      nextHopMode: "Self",
      numAllowedLocalASNumbers: 2,
      sourceAddress: "None",
      reachableBy: "10.0.0.254",
      password: { secretKeyRef: { name: "s", key: "k" } },
    },
  },
  [`${root}/bgppeers/tor6`]: {
    spec: { peerIP: "fd00::201", asNumber: 65100, keepOriginalNextHop: true, reachableBy: "fd00::254" },
  },
  [`${root}/bgppeers/pods`]: { spec: { localWorkloadSelector: "all()", asNumber: 65300 } },
  "/calico/v1/ipam/v4/pool/10.244.0.0-16": { cidr: "10.244.0.0/16", ipip_mode: "", vxlan_mode: "" },
  "/calico/v1/ipam/v4/pool/10.245.0.0-16": { cidr: "10.245.0.0/16", ipip_mode: "cross-subnet" },
  "/calico/v1/ipam/v4/pool/10.246.0.0-16": { cidr: "10.246.0.0/16", vxlan_mode: "always", disableBGPExport: true },
  "/calico/v1/ipam/v6/pool/fd44::-48": { cidr: "fd44::/48" },
  "/calico/ipam/v2/host/n1/ipv4/block/10.244.1.0-26": { state: "confirmed" },
  "/calico/ipam/v2/host/n1/ipv6/block/fd44::1:0-122": { state: "pendingDeletion" },
};

/** Throws where there is nothing to write. */
export function render(given: Objects, generation: 1 | 2): ConfigurationFiles {
  const objects = new BgpObjects();
  for (const [path, value] of Object.entries(given)) objects.set(path, JSON.stringify(value));
  return renderObjects(objects, generation);
}

export function renderObjects(objects: BgpObjects, generation: 1 | 2): ConfigurationFiles {
  const { intent } = computeBgp({
    node: "n1",
    objects,
    services: [],
    slices: [],
    workloads: [{ peer: "pods", 4: "10.244.1.9", 6: "fd44::1:9" }],
    settings: {
      routerId: undefined,
      advertisedClusterIps: undefined,
      kubernetesNode: "n1",
      usesPodCidr: false,
      agentProtocol: 80,
      canTunnel: false,
    },
    secret: () => ({ is: "value", value: "it's {a}; # secret" }),
  });
  if (intent === undefined) throw new Error("there is nothing to write");
  return renderBird(intent, generation);
}
