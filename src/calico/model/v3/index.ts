// Calico's v3 kinds; one file per kind.

export { type BgpConfigurationSpec, bgpConfigurationSpec } from "./bgp-configuration.ts";
export { type BgpFilterSpec, bgpFilterSpec } from "./bgp-filter.ts";
export { type BgpPeerSpec, bgpPeerSpec } from "./bgp-peer.ts";
export { blockAffinitySpec, v1BlockAffinity, v3BlockAffinitySpec } from "./block-affinity.ts";
export {
  type CalicoNodeStatusSpec,
  type CalicoNodeStatusStatus,
  calicoNodeStatusSpec,
  calicoNodeStatusStatus,
} from "./calico-node-status.ts";
export { type ClusterInformationSpec, clusterInformationSpec } from "./cluster-information.ts";
export {
  crdManifest,
  crdSchema,
  type V3Kind,
  type V3KindName,
  v3KindNames,
  v3Schemas,
} from "./crds.ts";
export {
  type FelixConfigurationSpec,
  felixConfigurationSpec,
  felixFields,
  settingName,
} from "./felix-configuration.ts";
export type { Setting } from "./felix-settings.ts";
export { type GlobalNetworkPolicySpec, globalNetworkPolicySpec } from "./global-network-policy.ts";
export { type HostEndpointSpec, hostEndpointSpec } from "./host-endpoint.ts";
export { type IpPoolSpec, ipPoolSpec } from "./ip-pool.ts";
export { type AllocationBlock, allocationBlock, type IpamBlockSpec, ipamBlockSpec } from "./ipam-block.ts";
export { ipamConfigSpec, ipamHandleSpec, v1IpamConfig, v1IpamHandle } from "./ipam-others.ts";
export { type LiveMigrationSpec, liveMigrationSpec } from "./live-migration.ts";
export { type NetworkPolicySpec, networkPolicySpec } from "./network-policy.ts";
export { networkSetSpec } from "./network-set.ts";
export type { CalicoGroup } from "./new-group.ts";
export { type NodeSpec, type NodeStatus, nodeSpec, nodeStatus } from "./node.ts";
export { type ProfileSpec, profileSpec } from "./profile.ts";
export { type EntityRule, type Rule, rule } from "./rule.ts";
export { stagedKubernetesNetworkPolicySpec } from "./staged-kubernetes-network-policy.ts";
export { stagedGlobalNetworkPolicySpec, stagedNetworkPolicySpec } from "./staged-policies.ts";
export { builtInTiers, defaultTierOrder, tierSpec } from "./tier.ts";
export {
  type QosControls,
  qosControls,
  type WorkloadEndpointSpec,
  workloadEndpointSpec,
} from "./workload-endpoint.ts";
