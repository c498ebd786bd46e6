// What the table needs of the cluster beside policies: which addresses are pods', which of them hide behind their node, and which nodes
// there are. From the same key/values as everything else.
import type { AddressRange } from "../../base/lib/index.ts";
import type { PolicyData } from "../../calico/policy/index.ts";
import type { Tunnels } from "./nft/base-options.ts";

export type ClusterFacts = {
  readonly pools: readonly AddressRange[];
  readonly hidden: readonly AddressRange[];
  readonly nodes: readonly AddressRange[];
  /**
   * Who packets of tunnels may come from: every node, whether or not it has a tunnel's address (yet, or still). Nodes hear of each other's
   * addresses at different times, and one that sends through its tunnel is not to wait until the others have heard.
   */
  readonly tunnelEnds: readonly AddressRange[];
  readonly tunnels: Tunnels;
};

/** Whether a key may change what `clusterFacts` says. */
export function isFactOfCluster(path: string): boolean {
  return /^\/calico\/(?:v1\/ipam\/|v1\/host\/[^/]+\/config\/|resources\/v3\/projectcalico\.org\/nodes\/)/.test(path);
}

export type BesideData = {
  readonly node: string;
  /** Whether the kernel has the device through which packets of VXLAN come in. */
  readonly hasDevice: (family: 4 | 6) => boolean;
  /** Nodes of other clusters. */
  readonly externalNodes: readonly AddressRange[];
};

export function clusterFacts(data: PolicyData, { node, hasDevice, externalNodes }: BesideData): ClusterFacts {
  const pools = [...data.pools.values()].filter(({ isForPods }) => isForPods);
  const hasIpipAddress = (data.nodeSettings.get(`${node}/${"IpInIpTunnelAddr".toLowerCase()}`) ?? "") !== "";
  // As long as there is a device, whatever the pools say: it takes in what anybody sends.
  const hasVxlan = (family: 4 | 6) =>
    hasDevice(family) || pools.some(({ net, usesVxlan }) => usesVxlan && net.family === family);
  const nodes = [...data.nodeAddresses.values()].flat();
  return {
    pools: pools.map(({ net }) => net),
    hidden: pools.flatMap(({ net, isMasqueraded }) => (isMasqueraded ? [net] : [])),
    nodes,
    tunnelEnds: [...nodes, ...externalNodes],
    tunnels: {
      vxlan: { 4: hasVxlan(4), 6: hasVxlan(6) },
      ipip: pools.some(({ usesIpip }) => usesIpip) && hasIpipAddress,
    },
  };
}
