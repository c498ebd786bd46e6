// List and watch behind one interface, and the followers that make a stream of them which survives faults.
export { writeJson } from "../../base/lib/index.ts";
export type {
  CallOptions,
  CreateOptions,
  Datastore,
  DeleteOptions,
  ListOptions,
  ListPage,
  ObjectId,
  Patch,
  PatchOptions,
  Reader,
  Revision,
  StoredObject,
  Through,
  UpdateOptions,
  WatchEvent,
  WatchOptions,
  Within,
  Writer,
} from "./datastore.ts";
export type { FolderAsRead } from "./directory/read-folder.ts";
export { createDryRun } from "./dry-run.ts";
export { type ChangeObject, type Decision, type Edited, type EditOptions, edit } from "./edit.ts";
export { DatastoreError, type DatastoreErrorCode, type DatastoreErrorOptions, isDatastoreError } from "./errors.ts";
export { type Follower, type FollowOptions, follow } from "./follow/follow.ts";
export type { FollowEvent } from "./follow/follow-event.ts";
export type { FollowLimits } from "./follow/follow-machine.ts";
export type { FollowReport, FollowState } from "./follow/follow-report.ts";
export { KindLog } from "./follow/kind-log.ts";
export { type FactEdge, type FactSource, WatchedFact } from "./follow/watched-fact.ts";
export type { Account, Asker } from "./kubernetes/access-reviews.ts";
export type { KubernetesDatastore, KubernetesSettings } from "./kubernetes/kubernetes-datastore.ts";
export type { Verb } from "./kubernetes/refusals.ts";
export { manifestProblemText } from "./manifest-problem.ts";
export { createMemoryDatastore, type MemoryDatastore, type MemoryDatastoreOptions } from "./memory/memory-datastore.ts";
export { whenForbidden } from "./missing-rights.ts";
export {
  type DatastoreOptions,
  endpointsOfDomain,
  openDatastore,
  openDirectoryDatastore,
  openEtcdDatastore,
  openKubernetes,
  readFolder,
} from "./open-datastore.ts";
