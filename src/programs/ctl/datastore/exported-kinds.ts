// Which kinds a migration takes along, in the order in which they are written: tiers before policies, which name them. Endpoints and
// profiles are not among them: in Kubernetes they follow from pods and namespaces.
import type { ApiKind } from "../../../calico/resources/index.ts";

export const exportedKinds = [
  "IPPool",
  "BGPPeer",
  "Tier",
  "GlobalNetworkPolicy",
  "StagedGlobalNetworkPolicy",
  "GlobalNetworkSet",
  "HostEndpoint",
  "KubeControllersConfiguration",
  "NetworkPolicy",
  "StagedNetworkPolicy",
  "StagedKubernetesNetworkPolicy",
  "NetworkSet",
  "Node",
  "BGPConfiguration",
  "FelixConfiguration",
  "IPReservation",
  "BGPFilter",
] as const satisfies readonly ApiKind[];

export type ExportedKind = (typeof exportedKinds)[number];

/** Of Kubernetes' own policies, which a controller stores in etcd beside Calico's. */
export const kubernetesPolicyPrefix = "knp.default.";
