// The Kubernetes API: kubeconfig and credentials, requests, list, watch, patch, subresources.
export { ApiClient, type ApiClientOptions } from "./api-client.ts";
export type { ApiRequest } from "./connection/send-request.ts";
export { Discovery } from "./discovery.ts";
export { type Endpoint, endpointsOf, listServiceSlices, type ServiceName, serviceOf } from "./endpoint-slices.ts";
export { type Identity, loadIdentity } from "./identity/load-identity.ts";
export { isKubeError, KubeError, type KubeErrorCode } from "./kube-error.ts";
export { type ListPage, type ListRequest, ListStyle, list } from "./list.ts";
export type { KubeSettings } from "./settings.ts";
export { type KubeEvent, type WatchRequest, watch } from "./watch.ts";
