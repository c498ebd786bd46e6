// v3 objects over any datastore: what users write and read, whatever keeps it.
export { type ApiKind, isApiKind, isNamespaced } from "./api-kinds.ts";
export { type CtlVerb, refusedByCtl } from "./ctl-rules.ts";
export { fromIpamRecord, type IpamKind } from "./forms/ipam.ts";
export { fromPod as endpointOfPod } from "./forms/pod-view.ts";
export type { Call, ChangeV3, Listed, NewState, ResourceEvent, Unreadable } from "./homes/home.ts";
export {
  type IpamObject,
  type IpamObjectKind,
  type IpamObjects,
  type IpamRef,
  type ListedIpamObjects,
  openIpamObjects,
} from "./homes/ipam-objects.ts";
export { annotatePod } from "./homes/pod-home.ts";
export { initialiseDatastore } from "./initialise.ts";
export { type MigratedNames, migratePolicyNames } from "./migrate-policy-names.ts";
export { cidrName, handleName, hostnameHash, nameInMessages } from "./names.ts";
export { openResources, type ResourcesOptions } from "./open-resources.ts";
export {
  isResourceError,
  ResourceError,
  type ResourceErrorCode,
} from "./resource-error.ts";
export type { DeleteOptions, ListOptions, ResourceId, Resources, WatchOptions } from "./resources.ts";
export type { IpamSteps } from "./rules/rule.ts";
export { readV3, type V3Object, v3Version, writeV3 } from "./v3-object.ts";
export { forCreate } from "./written-metadata.ts";
