// Kubernetes' own kinds that are sent whole.
export { type EndpointSliceBody, endpointSliceBody } from "./endpoint-slice.ts";
export { type ServiceSpec, type ServiceStatus, serviceSpec, serviceStatus } from "./service.ts";
