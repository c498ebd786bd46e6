// Pods' network interfaces and the endpoints that stand for them: what CNI's ADD, DEL and CHECK do. request.ts has the picture.

export {
  checkDataplane,
  checkDeviceType,
  type EndpointSettings,
  readEndpointSettings,
  readMtu,
} from "./asked/settings.ts";
export { check } from "./check.ts";
export { withAnyCidrs } from "./cluster-facts.ts";
export { collect } from "./collect.ts";
export { EndpointError } from "./endpoint-error.ts";
export { createNetwork } from "./network/index.ts";
export { hostSideName, interfacePrefix, type PodName } from "./network/names.ts";
export { plugIn } from "./plug-in.ts";
export { clusterInformation, mustBeReady, refuseUnready } from "./readiness.ts";
export type { EndpointEdge, EndpointRequest, IpamCalls, PodNetwork } from "./request.ts";
export { type Assigned, type PluggedIn, readIpamAnswer, resultOf, versionWhenUnsaid } from "./result.ts";
export { unplug } from "./unplug.ts";
export { waitForPolicy } from "./wait-for-policy.ts";
