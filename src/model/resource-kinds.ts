// The kinds that a ResourceKey may name, with the plural of their path. The plurals are the original's, odd ones
// included: "kubernetesservice" is singular.

const rows = [
  ["Node", "nodes", "global"],
  ["Profile", "profiles", "global"],
  ["BGPConfiguration", "bgpconfigurations", "global"],
  ["BGPPeer", "bgppeers", "global"],
  ["BGPFilter", "bgpfilters", "global"],
  ["CalicoNodeStatus", "caliconodestatuses", "global"],
  ["LiveMigration", "livemigrations", "namespaced"],
  ["KubernetesEndpointSlice", "kubernetesendpointslices", "namespaced"],
  ["KubernetesService", "kubernetesservice", "namespaced"],
  ["FelixConfiguration", "felixconfigurations", "global"],
  ["ClusterInformation", "clusterinformations", "global"],
  ["GlobalNetworkPolicy", "globalnetworkpolicies", "global"],
  ["StagedGlobalNetworkPolicy", "stagedglobalnetworkpolicies", "global"],
  ["HostEndpoint", "hostendpoints", "global"],
  ["GlobalNetworkSet", "globalnetworksets", "global"],
  ["IPPool", "ippools", "global"],
  ["IPReservation", "ipreservations", "global"],
  ["NetworkPolicy", "networkpolicies", "namespaced"],
  ["StagedNetworkPolicy", "stagednetworkpolicies", "namespaced"],
  ["StagedKubernetesNetworkPolicy", "stagedkubernetesnetworkpolicies", "namespaced"],
  ["NetworkSet", "networksets", "namespaced"],
  ["Tier", "tiers", "global"],
  ["KubeControllersConfiguration", "kubecontrollersconfigurations", "global"],
  ["IPAMConfiguration", "ipamconfigurations", "global"],
  ["IPAMConfig", "ipamconfigs", "global"],
  ["BlockAffinity", "blockaffinities", "global"],
  ["WorkloadEndpoint", "workloadendpoints", "namespaced"],
  ["KubernetesNetworkPolicy", "kubernetesnetworkpolicies", "namespaced"],
  ["KubernetesClusterNetworkPolicy", "kubernetesclusternetworkpolicies", "global"],
] as const;

export type ResourceKind = (typeof rows)[number][0];
type ResourceKindInfo = {
  readonly kind: ResourceKind;
  readonly plural: string;
  readonly isNamespaced: boolean;
};

const infos: readonly ResourceKindInfo[] = rows.map(([kind, plural, scope]) => ({
  kind,
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
