// Kubernetes' own kinds that are sent whole.
export { type ClusterNetworkPolicySpec, clusterNetworkPolicySpec } from "./cluster-network-policy.ts";
export { type EndpointSliceBody, endpointSliceBody } from "./endpoint-slice.ts";
export { type ServiceSpec, type ServiceStatus, serviceSpec, serviceStatus } from "./service.ts";
