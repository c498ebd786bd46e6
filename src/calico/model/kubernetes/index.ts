// Kubernetes' own kinds, as far as they are read: some are converted, services and endpoint slices are sent whole.
export { type ClusterNetworkPolicySpec, clusterNetworkPolicySpec } from "./cluster-network-policy.ts";
export { type EndpointSliceBody, endpointSliceBody } from "./endpoint-slice.ts";
export type { LabelSelector } from "./label-selector.ts";
export { type KubernetesNetworkPolicySpec, kubernetesNetworkPolicySpec } from "./network-policy.ts";
export { type ServiceSpec, type ServiceStatus, serviceSpec, serviceStatus } from "./service.ts";
