// Calico's own kinds, with the plural that their paths and addresses have, and their scope: said here once, for those that
// feed the syncers (kinds.ts), those that a key may name (resource-kinds.ts) and the definitions in a cluster (v3/crds.ts).

export type Scope = "cluster" | "namespaced";
type Row = readonly [plural: string, scope: Scope];

export const calicoKinds = {
  BGPConfiguration: ["bgpconfigurations", "cluster"],
  BGPFilter: ["bgpfilters", "cluster"],
  BGPPeer: ["bgppeers", "cluster"],
  BlockAffinity: ["blockaffinities", "cluster"],
  CalicoNodeStatus: ["caliconodestatuses", "cluster"],
  ClusterInformation: ["clusterinformations", "cluster"],
  FelixConfiguration: ["felixconfigurations", "cluster"],
  GlobalNetworkPolicy: ["globalnetworkpolicies", "cluster"],
  GlobalNetworkSet: ["globalnetworksets", "cluster"],
  HostEndpoint: ["hostendpoints", "cluster"],
  IPAMBlock: ["ipamblocks", "cluster"],
  IPAMConfig: ["ipamconfigs", "cluster"],
  IPAMHandle: ["ipamhandles", "cluster"],
  IPPool: ["ippools", "cluster"],
  IPReservation: ["ipreservations", "cluster"],
  KubeControllersConfiguration: ["kubecontrollersconfigurations", "cluster"],
  LiveMigration: ["livemigrations", "namespaced"],
  NetworkPolicy: ["networkpolicies", "namespaced"],
  NetworkSet: ["networksets", "namespaced"],
  Profile: ["profiles", "cluster"],
  StagedGlobalNetworkPolicy: ["stagedglobalnetworkpolicies", "cluster"],
  StagedKubernetesNetworkPolicy: ["stagedkubernetesnetworkpolicies", "namespaced"],
  StagedNetworkPolicy: ["stagednetworkpolicies", "namespaced"],
  Tier: ["tiers", "cluster"],
  WorkloadEndpoint: ["workloadendpoints", "namespaced"],
} as const satisfies { readonly [kind: string]: Row };

export type CalicoKind = keyof typeof calicoKinds;

export function calicoKind(kind: CalicoKind): { readonly plural: string; readonly namespaced: boolean } {
  const [plural, scope] = calicoKinds[kind];
  return { plural, namespaced: scope === "namespaced" };
}
