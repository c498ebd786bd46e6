// Resources to key/values, and validation: pure functions, one file per kind.

export { createBgpConfigurationProcessor } from "./bgp-configuration.ts";
export { createBgpFilterProcessor } from "./bgp-filter.ts";
export { createBgpPeerProcessor } from "./bgp-peer.ts";
export { createCalicoNodeStatusProcessor } from "./calico-node-status.ts";
export {
  createGlobalNetworkPolicyProcessor,
  createNetworkPolicyProcessor,
  createStagedGlobalNetworkPolicyProcessor,
  createStagedNetworkPolicyProcessor,
} from "./calico-policies.ts";
export { createClusterNetworkPolicyProcessor } from "./cluster-network-policy.ts";
export { createClusterInformationProcessor, createFelixConfigurationProcessor } from "./config.ts";
export type { ConvertedKv, Problem } from "./converted.ts";
export { createHostEndpointProcessor } from "./host-endpoint.ts";
export { createIpPoolProcessor } from "./ip-pool.ts";
export { createBlockAffinityProcessor, createIpamBlockProcessor } from "./ipam.ts";
export { createKubernetesNetworkPolicyProcessor } from "./kubernetes-network-policy.ts";
export { createLiveMigrationProcessor, createVirtualMachineMigrationProcessor } from "./live-migration.ts";
export { createNamespaceProcessor, createServiceAccountProcessor, defaultAllowKvs } from "./namespace.ts";
export { createGlobalNetworkSetProcessor, createNetworkSetProcessor } from "./network-set.ts";
export { createNodeProcessor } from "./node.ts";
export { createPodProcessor } from "./pod.ts";
export { objectName, type Processor, type ProcessorOutput } from "./processor.ts";
export { createProfileProcessor } from "./profile.ts";
export { createEndpointSliceProcessor, createServiceProcessor } from "./service.ts";
export { createStagedKubernetesNetworkPolicyProcessor } from "./staged-kubernetes-policy.ts";
export { createStoredNodeProcessor } from "./stored-node.ts";
export { createTierProcessor } from "./tier.ts";
export { createWorkloadEndpointProcessor } from "./workload-endpoint.ts";
