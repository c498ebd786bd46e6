// Every kind of object that Calico's programs read or write; one file each, below. Nothing here runs by itself.
export { type BgpConfigurationSpec, bgpConfigurationSpec } from "./bgp/bgp-configuration.ts";
export { type BgpFilterSpec, bgpFilterSpec } from "./bgp/bgp-filter.ts";
export { type BgpPeerSpec, bgpPeerSpec } from "./bgp/bgp-peer.ts";
export {
  type CalicoNodeStatusSpec,
  type CalicoNodeStatusStatus,
  calicoNodeStatusSpec,
  calicoNodeStatusStatus,
} from "./bgp/calico-node-status.ts";
export { type Problem, problemText } from "./checks/check.ts";
export { annotationsProblem, isDnsSubdomain, labelsProblem, utf8Length } from "./checks/name-rules.ts";
export { isInterfaceName, isStrictNetwork } from "./checks/tags.ts";
export { type ClusterInformationSpec, clusterInformationSpec } from "./cluster/cluster-information.ts";
export {
  type FelixConfigurationSpec,
  felixConfigurationSpec,
  felixFields,
  settingName,
} from "./cluster/felix-fields.ts";
export type { Setting } from "./cluster/felix-settings.ts";
export { type NodeSpec, type NodeStatus, nodeSpec, nodeStatus } from "./cluster/node.ts";
export type { CellContext, Column } from "./columns.ts";
export { crdManifest, crdSchema } from "./crds.ts";
export { type HostEndpointSpec, hostEndpointSpec } from "./endpoint/host-endpoint.ts";
export { type LiveMigrationSpec, liveMigrationSpec } from "./endpoint/live-migration.ts";
export { networkSetSpec } from "./endpoint/network-set.ts";
export { type ProfileSpec, profileSpec } from "./endpoint/profile.ts";
export {
  type QosControls,
  qosControls,
  type WorkloadEndpointSpec,
  workloadEndpointName,
  workloadEndpointSpec,
} from "./endpoint/workload-endpoint.ts";
export { blockAffinitySpec, v1BlockAffinity, v3BlockAffinitySpec } from "./ipam/block-affinity.ts";
export { type IpPoolSpec, ipPoolSpec } from "./ipam/ip-pool.ts";
export { type AllocationBlock, allocationBlock, type IpamBlockSpec, ipamBlockSpec } from "./ipam/ipam-block.ts";
export { v1IpamConfig } from "./ipam/ipam-config.ts";
export { v1IpamHandle } from "./ipam/ipam-handle.ts";
export type {
  CalicoGroup,
  CrossRule,
  CustomResource,
  Flavour,
  KindInfo,
  KindSchema,
  Right,
  Role,
  SpecObject,
} from "./kind.ts";
export { kindsPage } from "./kinds-page.ts";
export { type EndpointSliceBody, endpointSliceBody } from "./kubernetes/endpoint-slice.ts";
export { type ServiceSpec, type ServiceStatus, serviceSpec, serviceStatus } from "./kubernetes/service.ts";
export type { LabelSelector } from "./parts/label-selector.ts";
export { type ClusterNetworkPolicySpec, clusterNetworkPolicySpec } from "./policy/cluster-network-policy.ts";
export { type GlobalNetworkPolicySpec, globalNetworkPolicySpec } from "./policy/global-network-policy.ts";
export {
  type KubernetesNetworkPolicySpec,
  kubernetesNetworkPolicySpec,
} from "./policy/kubernetes-network-policy.ts";
export { type NetworkPolicySpec, networkPolicySpec } from "./policy/network-policy.ts";
export type { EntityRule, Rule } from "./policy/rule.ts";
export { stagedGlobalNetworkPolicySpec } from "./policy/staged-global-network-policy.ts";
export { stagedKubernetesNetworkPolicySpec } from "./policy/staged-kubernetes-network-policy.ts";
export { stagedNetworkPolicySpec } from "./policy/staged-network-policy.ts";
export { builtInTiers, defaultTierOrder, tierSpec } from "./policy/tier.ts";
export {
  type CustomKind,
  columnsOf,
  customKinds,
  customResourceInfo,
  followedKinds,
  type Kind,
  kindByName,
  kindInfo,
  kindNames,
  kinds,
  namedKinds,
  storedKind,
  type TableForm,
} from "./registry.ts";
export { followRules, type PolicyRule, rulesFor, type Use, usesOf } from "./rights.ts";
export { schemaProblems, unknownField, withSchemaDefaults } from "./schema-checks.ts";
export { problemsBeforeWrite, specProblems, validate, withDefaults } from "./validate.ts";
