// Resources to key/values, and validation: pure functions, one file per kind.

export { createBgpConfigurationProcessor } from "./bgp/bgp-configuration.ts";
export { createBgpFilterProcessor } from "./bgp/bgp-filter.ts";
export { createBgpPeerProcessor } from "./bgp/bgp-peer.ts";
export { createCalicoNodeStatusProcessor } from "./bgp/calico-node-status.ts";
export { createClusterInformationProcessor, createFelixConfigurationProcessor } from "./config/felix-settings.ts";
export { createHostEndpointProcessor } from "./endpoint/host-endpoint.ts";
export { createWorkloadEndpointProcessor } from "./endpoint/workload-endpoint.ts";
export { createIpPoolProcessor } from "./ipam/ip-pool.ts";
export { createBlockAffinityProcessor, createIpamBlockProcessor } from "./ipam/ipam.ts";
export { createClusterNetworkPolicyProcessor } from "./kubernetes-policy/cluster-network-policy.ts";
export {
  createKubernetesNetworkPolicyProcessor,
  createStagedKubernetesNetworkPolicyProcessor,
} from "./kubernetes-policy/kubernetes-policies.ts";
export { ruleOrigins } from "./kubernetes-policy/rule-origins.ts";
export { createEitherNodeProcessor, createNodeProcessor } from "./node/kubernetes-node.ts";
export { createEtcdNodeProcessor } from "./node/node-processor.ts";
export { createPodProcessor } from "./pod/pod.ts";
export {
  createGlobalNetworkPolicyProcessor,
  createNetworkPolicyProcessor,
  createStagedGlobalNetworkPolicyProcessor,
  createStagedNetworkPolicyProcessor,
} from "./policy/calico-policies.ts";
export { createGlobalNetworkSetProcessor, createNetworkSetProcessor } from "./policy/network-set.ts";
export { createTierProcessor } from "./policy/tier.ts";
export type { ConversionProblem, ConvertedKv } from "./processor/processor.ts";
export { objectName, type Processor, type ProcessorOutput } from "./processor/processor.ts";
export { createNamespaceProcessor, createServiceAccountProcessor, defaultAllowKvs } from "./profile/namespace.ts";
export { createProfileProcessor } from "./profile/profile.ts";
export { createLiveMigrationProcessor, createVirtualMachineMigrationProcessor } from "./service/live-migration.ts";
export { createEndpointSliceProcessor, createServiceProcessor } from "./service/service.ts";
