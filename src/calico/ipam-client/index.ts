// Address management on a datastore: the loop that carries out the steps of calico/ipam, and the library over it.
//
//   const edge = { clock, random };
//   const ipam = openIpam(openIpamAccess(datastore, edge), edge);
//   const { ipv4 } = await ipam.autoAssign({ node, use: "Workload", handle, attributes, ipv4: { count: 1 } });
//   await ipam.releaseByHandle(handle);
//
// Ipam (ipam.ts) is what users of it see. IpamAccess (access.ts) is all that it needs of a datastore: a program that lives long puts a
// cache there, which answers steps from what it follows and passes on the rest. Whoever has steps of its own uses `carryOut`.
// `ipamSteps` is what calico/resources wants to be given (openResources, option `ipam`), so that deleting a node or a pool gives
// addresses and blocks back.
export type { Call, IpamAccess, IpamConfig, IpamFacts } from "./access.ts";
export type { Edge } from "./carry-out.ts";
export { type AccessOptions, openIpamAccess } from "./datastore-access.ts";
export type {
  AssignedOfFamily,
  AutoAssignRequest,
  ForWhom,
  Ipam,
  MustBeEmpty,
  NamedAssignRequest,
  Wanted,
} from "./ipam.ts";
export { IpamError, type IpamErrorCode, isIpamError } from "./ipam-error.ts";
export { ipamSteps } from "./ipam-steps.ts";
export { openIpam } from "./open-ipam.ts";
