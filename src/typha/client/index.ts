// What `cattail/client`, and `cattail` itself, offer: follow any Typha, ours or the original, from a program of your own.
// Every name here is public and stays; README.md in this folder has the examples, docs/reference/library.md the list, and
// docs/decisions/0015 says what is in and what is not. What only our own folders need has a door of its own, parts.ts.
export { CattailError, type Clock, type Log, type LogFields } from "../../base/lib/index.ts";
export { type Key, type ResourceKey, type SyncerType, type SyncStatus, syncStatus } from "../../calico/model/basics.ts";
export type { ClientTls } from "./connection/dial.ts";
export {
  type KubernetesAccess,
  type KubernetesServiceOptions,
  kubernetesService,
} from "./discovery/kubernetes-discovery.ts";
export { type Discovery, parseServerAddress, type ServerAddress, type Servers } from "./discovery/server-address.ts";
export { follow, followBatches } from "./follow.ts";
export { type ClientEnvironment, type EnvironmentOptions, optionsFromEnvironment } from "./options/environment.ts";
export type { FollowOptions } from "./options/follow-options.ts";
export { Snapshot } from "./snapshot.ts";
export {
  type DeleteUpdate,
  keyOf,
  type ProblemUpdate,
  readEntry,
  type SetUpdate,
  type StatusUpdate,
  type Update,
} from "./update.ts";
export type * from "./values.ts";
