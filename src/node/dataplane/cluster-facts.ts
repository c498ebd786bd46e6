// What the table needs of the cluster beside policies: which addresses are pods', which of them hide behind their node, and which nodes
// there are. From the same key/values as everything else.
import type { AddressRange } from "../../base/lib/index.ts";
import type { PolicyData } from "../../calico/policy/index.ts";
import type { Tunnels } from "./nft/base-options.ts";

export type ClusterFacts = {
  readonly pools: readonly AddressRange[];
  readonly hidden: readonly AddressRange[];
  readonly nodes: readonly AddressRange[];
  /** The nodes that VXLAN packets may come from. */
  readonly tunnelEnds: readonly AddressRange[];
  readonly tunnels: Tunnels;
};

/** Whether a key may change what `clusterFacts` says. */
export function isFactOfCluster(path: string): boolean {
  return /^\/calico\/(?:v1\/ipam\/|v1\/host\/[^/]+\/config\/|resources\/v3\/projectcalico\.org\/nodes\/)/.test(path);
}

export function clusterFacts(data: PolicyData, node: string): ClusterFacts {
  const pools = [...data.pools.values()].filter(({ isForPods }) => isForPods);
  const tunnelAddress = { 4: "IPv4VXLANTunnelAddr", 6: "IPv6VXLANTunnelAddr" } as const;
  const hasAddress = (host: string, name: string) =>
    (data.nodeSettings.get(`${host}/${name.toLowerCase()}`) ?? "") !== "";
  const hasVxlan = (family: 4 | 6) =>
    pools.some(({ net, usesVxlan }) => usesVxlan && net.family === family) && hasAddress(node, tunnelAddress[family]);
  const all = [...data.nodeAddresses];
  return {
    pools: pools.map(({ net }) => net),
    hidden: pools.flatMap(({ net, isMasqueraded }) => (isMasqueraded ? [net] : [])),
    nodes: all.flatMap(([, addresses]) => addresses),
    tunnelEnds: all.flatMap(([host, addresses]) =>
      addresses.filter(({ family }) => hasAddress(host, tunnelAddress[family])),
    ),
    tunnels: {
      vxlan: { 4: hasVxlan(4), 6: hasVxlan(6) },
      ipip: pools.some(({ usesIpip }) => usesIpip) && hasAddress(node, "IpInIpTunnelAddr"),
    },
  };
}
