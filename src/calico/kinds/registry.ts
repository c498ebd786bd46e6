// All kinds that any program reads or writes, each from its own file. The datastores, the syncers, CRDs, RBAC rules, metrics,
// docs/reference/kinds.md and the command line are loops over it.
import { bgpConfiguration } from "./bgp/bgp-configuration.ts";
import { bgpFilter } from "./bgp/bgp-filter.ts";
import { bgpPeer } from "./bgp/bgp-peer.ts";
import { calicoNodeStatus } from "./bgp/calico-node-status.ts";
import { clusterInformation } from "./cluster/cluster-information.ts";
import { felixConfiguration } from "./cluster/felix-configuration.ts";
import { kubeControllersConfiguration } from "./cluster/kube-controllers-configuration.ts";
import { node } from "./cluster/node.ts";
import type { Column } from "./columns.ts";
import { namespaceCell } from "./columns.ts";
import { globalNetworkSet } from "./endpoint/global-network-set.ts";
import { hostEndpoint } from "./endpoint/host-endpoint.ts";
import { liveMigration } from "./endpoint/live-migration.ts";
import { networkSet } from "./endpoint/network-set.ts";
import { profile } from "./endpoint/profile.ts";
import { workloadEndpoint } from "./endpoint/workload-endpoint.ts";
import { blockAffinity } from "./ipam/block-affinity.ts";
import { ipPool } from "./ipam/ip-pool.ts";
import { ipReservation } from "./ipam/ip-reservation.ts";
import { ipamBlock } from "./ipam/ipam-block.ts";
import { ipamConfig } from "./ipam/ipam-config.ts";
import { ipamConfiguration } from "./ipam/ipam-configuration.ts";
import { ipamHandle } from "./ipam/ipam-handle.ts";
import type { CustomResource, Flavour, KindInfo } from "./kind.ts";
import { configMap } from "./kubernetes/config-map.ts";
import { endpointSlice } from "./kubernetes/endpoint-slice.ts";
import { namespace } from "./kubernetes/namespace.ts";
import { pod } from "./kubernetes/pod.ts";
import { secret } from "./kubernetes/secret.ts";
import { service } from "./kubernetes/service.ts";
import { serviceAccount } from "./kubernetes/service-account.ts";
import { virtualMachineInstanceMigration } from "./kubernetes/virtual-machine-instance-migration.ts";
import { clusterNetworkPolicy } from "./policy/cluster-network-policy.ts";
import { globalNetworkPolicy } from "./policy/global-network-policy.ts";
import { kubernetesNetworkPolicy } from "./policy/kubernetes-network-policy.ts";
import { networkPolicy } from "./policy/network-policy.ts";
import { stagedGlobalNetworkPolicy } from "./policy/staged-global-network-policy.ts";
import { stagedKubernetesNetworkPolicy } from "./policy/staged-kubernetes-network-policy.ts";
import { stagedNetworkPolicy } from "./policy/staged-network-policy.ts";
import { tier } from "./policy/tier.ts";

const registry = {
  ClusterInformation: clusterInformation,
  FelixConfiguration: felixConfiguration,
  GlobalNetworkPolicy: globalNetworkPolicy,
  StagedGlobalNetworkPolicy: stagedGlobalNetworkPolicy,
  GlobalNetworkSet: globalNetworkSet,
  IPPool: ipPool,
  NetworkPolicy: networkPolicy,
  StagedNetworkPolicy: stagedNetworkPolicy,
  StagedKubernetesNetworkPolicy: stagedKubernetesNetworkPolicy,
  NetworkSet: networkSet,
  Tier: tier,
  HostEndpoint: hostEndpoint,
  BGPConfiguration: bgpConfiguration,
  BGPPeer: bgpPeer,
  BGPFilter: bgpFilter,
  CalicoNodeStatus: calicoNodeStatus,
  IPAMBlock: ipamBlock,
  BlockAffinity: blockAffinity,
  Node: node,
  Pod: pod,
  Namespace: namespace,
  ServiceAccount: serviceAccount,
  Service: service,
  EndpointSlice: endpointSlice,
  KubernetesNetworkPolicy: kubernetesNetworkPolicy,
  ClusterNetworkPolicy: clusterNetworkPolicy,
  VirtualMachineInstanceMigration: virtualMachineInstanceMigration,
  Profile: profile,
  WorkloadEndpoint: workloadEndpoint,
  LiveMigration: liveMigration,
  IPAMHandle: ipamHandle,
  IPAMConfig: ipamConfig,
  IPAMConfiguration: ipamConfiguration,
  IPReservation: ipReservation,
  KubeControllersConfiguration: kubeControllersConfiguration,
  Secret: secret,
  ConfigMap: configMap,
} as const satisfies { readonly [kind: string]: KindInfo };

export type Kind = keyof typeof registry;

export const kinds: { readonly [K in Kind]: KindInfo } = registry;
export const kindNames = Object.keys(registry) as Kind[]; // Object.keys loses the literal names of a const table
export const followedKinds: readonly Kind[] = kindNames.filter((kind) => kinds[kind].followed);

/** The kinds that Calico defines in a cluster. */
export type CustomKind = { [K in Kind]: (typeof registry)[K] extends CustomResource ? K : never }[Kind];
export const customKinds = kindNames.filter(isCustomKind).sort();

export function isCustomKind(kind: Kind): kind is CustomKind {
  return kinds[kind].kubernetes?.group === "calico";
}

export function customResourceInfo(kind: CustomKind): CustomResource {
  return registry[kind];
}

export function kindInfo(kind: Kind): KindInfo {
  return kinds[kind];
}

/** Two records in etcd, which do not know of each other; everywhere else IPAMConfiguration is a name for IPAMConfig. */
export function storedKind(kind: Kind, flavour: Flavour): Kind {
  return kind === "IPAMConfiguration" && flavour === "kubernetes" ? "IPAMConfig" : kind;
}

const byName = new Map(kindNames.flatMap((kind) => (kinds[kind].names ?? []).map((name) => [name, kind] as const)));

/** The kind that a user means by "ippools", "IPPool" or "pool"; undefined: there is none of that name. */
export function kindByName(name: string): Kind | undefined {
  return byName.get(name.toLowerCase());
}

/** The kinds that users can name, which are the kinds of calicoctl. */
export const namedKinds: readonly Kind[] = kindNames.filter((kind) => kinds[kind].names !== undefined);

export type TableForm = "ps" | "wide";

/** What a table shows; "all" are those that can be asked for by their heading. */
export function columnsOf(kind: Kind, form: TableForm | "all"): readonly Column[] {
  const { columns = { ps: [] }, namespaced } = kinds[kind];
  const { ps, wide = ps, more = [] } = columns;
  if (form !== "all") return form === "ps" ? ps : wide;
  const known = new Map(
    [...ps, ...wide, ...more, ...(namespaced ? [namespaceCell] : [])].map((one) => [one.heading, one]),
  );
  return [...known.values()];
}
