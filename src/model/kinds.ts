// The kinds of objects that feed the syncers: where each is stored in either datastore, and what it would cost to be
// without it. One table; the datastores, the syncers, the RBAC manifests and docs/reference/kinds.md are loops over it.

/** Where the Kubernetes API serves a kind. Calico's own kinds are served by whichever of its two groups is in use. */
export type KubernetesSource =
  | { readonly group: string; readonly version: string; readonly plural: string }
  | { readonly group: "calico"; readonly plural: string };

export type KindInfo = {
  readonly namespaced: boolean;
  /** Absent: the kind does not exist in Kubernetes mode. */
  readonly kubernetes?: KubernetesSource;
  /** The prefix below which etcd holds the kind. Absent: the kind does not exist in etcd mode. */
  readonly etcdPrefix?: string;
  /**
   * "enforcement": a cluster whose data plane lacks it would let through, or drop, the wrong packets, so a server that
   * may not read it must not become ready. "optional": without it something is not shown or not offered.
   */
  readonly carries: "enforcement" | "optional";
  /** "custom-resource": a missing CRD is an empty list. "api": a missing API is looked for again every 30 minutes. */
  readonly whenMissing: "custom-resource" | "api";
};

const resources = "/calico/resources/v3/projectcalico.org";

function custom(plural: string, scope: "cluster" | "namespaced", carries: KindInfo["carries"]): KindInfo {
  return {
    namespaced: scope === "namespaced",
    kubernetes: { group: "calico", plural },
    etcdPrefix: `${resources}/${plural}/`,
    carries,
    whenMissing: "custom-resource",
  };
}

export const kinds = {
  ClusterInformation: custom("clusterinformations", "cluster", "enforcement"),
  FelixConfiguration: custom("felixconfigurations", "cluster", "enforcement"),
  GlobalNetworkPolicy: custom("globalnetworkpolicies", "cluster", "enforcement"),
  StagedGlobalNetworkPolicy: custom("stagedglobalnetworkpolicies", "cluster", "optional"),
  GlobalNetworkSet: custom("globalnetworksets", "cluster", "enforcement"),
  IPPool: custom("ippools", "cluster", "enforcement"),
  NetworkPolicy: custom("networkpolicies", "namespaced", "enforcement"),
  StagedNetworkPolicy: custom("stagednetworkpolicies", "namespaced", "optional"),
  StagedKubernetesNetworkPolicy: custom("stagedkubernetesnetworkpolicies", "namespaced", "optional"),
  NetworkSet: custom("networksets", "namespaced", "enforcement"),
  Tier: custom("tiers", "cluster", "enforcement"),
  HostEndpoint: custom("hostendpoints", "cluster", "enforcement"),
  BGPConfiguration: custom("bgpconfigurations", "cluster", "enforcement"),
  BGPPeer: custom("bgppeers", "cluster", "enforcement"),
  BGPFilter: custom("bgpfilters", "cluster", "enforcement"),
  CalicoNodeStatus: custom("caliconodestatuses", "cluster", "optional"),
  IPAMBlock: { ...custom("ipamblocks", "cluster", "enforcement"), etcdPrefix: "/calico/ipam/v2/assignment/" },
  BlockAffinity: { ...custom("blockaffinities", "cluster", "enforcement"), etcdPrefix: "/calico/ipam/v2/host/" },
  Node: {
    namespaced: false,
    kubernetes: { group: "", version: "v1", plural: "nodes" },
    etcdPrefix: `${resources}/nodes/`,
    carries: "enforcement",
    whenMissing: "api",
  },
  Pod: {
    namespaced: true,
    kubernetes: { group: "", version: "v1", plural: "pods" },
    carries: "enforcement",
    whenMissing: "api",
  },
  Namespace: {
    namespaced: false,
    kubernetes: { group: "", version: "v1", plural: "namespaces" },
    carries: "enforcement",
    whenMissing: "api",
  },
  ServiceAccount: {
    namespaced: true,
    kubernetes: { group: "", version: "v1", plural: "serviceaccounts" },
    carries: "enforcement",
    whenMissing: "api",
  },
  Service: {
    namespaced: true,
    kubernetes: { group: "", version: "v1", plural: "services" },
    carries: "enforcement",
    whenMissing: "api",
  },
  EndpointSlice: {
    namespaced: true,
    kubernetes: { group: "discovery.k8s.io", version: "v1", plural: "endpointslices" },
    carries: "optional",
    whenMissing: "api",
  },
  KubernetesNetworkPolicy: {
    namespaced: true,
    kubernetes: { group: "networking.k8s.io", version: "v1", plural: "networkpolicies" },
    carries: "enforcement",
    whenMissing: "api",
  },
  ClusterNetworkPolicy: {
    namespaced: false,
    kubernetes: { group: "policy.networking.k8s.io", version: "v1alpha2", plural: "clusternetworkpolicies" },
    carries: "enforcement",
    whenMissing: "api",
  },
  VirtualMachineInstanceMigration: {
    namespaced: true,
    kubernetes: { group: "kubevirt.io", version: "v1", plural: "virtualmachineinstancemigrations" },
    carries: "optional",
    whenMissing: "api",
  },
  Profile: {
    namespaced: false,
    etcdPrefix: `${resources}/profiles/`,
    carries: "enforcement",
    whenMissing: "api",
  },
  WorkloadEndpoint: {
    namespaced: true,
    etcdPrefix: `${resources}/workloadendpoints/`,
    carries: "enforcement",
    whenMissing: "api",
  },
  LiveMigration: {
    namespaced: true,
    etcdPrefix: `${resources}/livemigrations/`,
    carries: "optional",
    whenMissing: "api",
  },
} as const satisfies { [name: string]: KindInfo };

export type Kind = keyof typeof kinds;
export const kindNames = Object.keys(kinds) as Kind[]; // Object.keys loses the literal names of a const table

/** The table's row as the general type, for code that loops over kinds. */
export function kindInfo(kind: Kind): KindInfo {
  return kinds[kind];
}
