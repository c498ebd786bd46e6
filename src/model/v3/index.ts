// Calico's v3 kinds; one file per kind.
export { type ClusterInformationSpec, clusterInformationSpec } from "./cluster-information.ts";
export { type GlobalNetworkPolicySpec, globalNetworkPolicySpec } from "./global-network-policy.ts";
export { type HostEndpointSpec, hostEndpointSpec } from "./host-endpoint.ts";
export { type IpPoolSpec, ipPoolSpec } from "./ip-pool.ts";
export { type LiveMigrationSpec, liveMigrationSpec } from "./live-migration.ts";
export { type NetworkPolicySpec, networkPolicySpec } from "./network-policy.ts";
export { type NetworkSetSpec, networkSetSpec } from "./network-set.ts";
export { type NodeSpec, type NodeStatus, nodeSpec, nodeStatus } from "./node.ts";
export { type EntityRule, type Rule, rule } from "./rule.ts";
export {
  type StagedKubernetesNetworkPolicySpec,
  stagedKubernetesNetworkPolicySpec,
} from "./staged-kubernetes-network-policy.ts";
export { stagedGlobalNetworkPolicySpec, stagedNetworkPolicySpec } from "./staged-policies.ts";
export { type TierSpec, tierSpec } from "./tier.ts";
