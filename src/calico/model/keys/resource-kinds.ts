// The kinds that a ResourceKey may name, with the plural of their path and their scope. The plurals are the original's, odd
// ones included: "kubernetesservice" is singular. Everything else about a kind is in its file in calico/kinds.

type Scope = "cluster" | "namespaced";

const table = {
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
  IPAMConfig: ["ipamconfigs", "cluster"],
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
  Node: ["nodes", "cluster"],
  IPAMConfiguration: ["ipamconfigurations", "cluster"],
  KubernetesEndpointSlice: ["kubernetesendpointslices", "namespaced"],
  KubernetesService: ["kubernetesservice", "namespaced"],
  KubernetesNetworkPolicy: ["kubernetesnetworkpolicies", "namespaced"],
  KubernetesClusterNetworkPolicy: ["kubernetesclusternetworkpolicies", "cluster"],
} as const satisfies { readonly [kind: string]: readonly [plural: string, scope: Scope] };

export type ResourceKind = keyof typeof table;
type ResourceKindInfo = {
  readonly kind: ResourceKind;
  readonly plural: string;
  readonly isNamespaced: boolean;
};

const infos: readonly ResourceKindInfo[] = Object.entries(table).map(([kind, [plural, scope]]) => ({
  kind: kind as ResourceKind, // Object.entries loses the literal names of a const table
  plural,
  isNamespaced: scope === "namespaced",
}));
const byKind = new Map<string, ResourceKindInfo>(infos.map((info) => [info.kind.toLowerCase(), info]));
const byPlural = new Map<string, ResourceKindInfo>(infos.map((info) => [info.plural, info]));

/** Below it the paths of all resources begin. */
export const resourceRoot = "/calico/resources/v3/projectcalico.org";

export const resourceKinds: readonly ResourceKind[] = infos.map(({ kind }) => kind);

/** The kind may be written in any case, as the original allows. */
export function resourceKindInfo(kind: string): ResourceKindInfo | undefined {
  return byKind.get(kind.toLowerCase());
}

export function resourceKindOfPlural(plural: string): ResourceKindInfo | undefined {
  return byPlural.get(plural);
}

/** What the paths of a kind's resources begin with. */
export function resourcePrefix(kind: ResourceKind): string {
  return `${resourceRoot}/${resourceKindInfo(kind)?.plural}/`;
}
