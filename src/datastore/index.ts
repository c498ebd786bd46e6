// List and watch behind one interface, and the followers that make a stream of them which survives faults.
export type {
  Datastore,
  ListPage,
  ManifestProblem,
  ObjectId,
  Revision,
  StoredObject,
  WatchEvent,
} from "./datastore.ts";
export {
  type DirectoryDatastore,
  type DirectoryOptions,
  openDirectoryDatastore,
} from "./directory/directory-datastore.ts";
export { manifestProblemText } from "./directory/manifest-folder.ts";
export {
  DatastoreError,
  type DatastoreErrorCode,
  type DatastoreErrorOptions,
  datastoreErrorCodes,
  isDatastoreError,
} from "./errors.ts";
export { type EtcdOptions, openEtcdDatastore } from "./etcd/etcd-datastore.ts";
export { type Follower, type FollowOptions, follow } from "./follow.ts";
export type { FollowEvent } from "./follow-event.ts";
export { type FollowLimits, followLimits } from "./follow-limits.ts";
export type { FollowReport, FollowState } from "./follow-report.ts";
export { KindLog } from "./kind-log.ts";
export { kindsPage } from "./kinds-page.ts";
export {
  type KubernetesDatastore,
  type KubernetesOptions,
  openKubernetes,
  type Verb,
} from "./kubernetes/kubernetes-datastore.ts";
export type { CalicoGroup } from "./kubernetes/paths.ts";
export { listServiceSlices, type ServiceName } from "./kubernetes/service-slices.ts";
export type { KubernetesSettings } from "./kubernetes/settings.ts";
export {
  createMemoryDatastore,
  type MemoryDatastore,
  type MemoryDatastoreOptions,
  type MemoryStep,
} from "./memory/memory-datastore.ts";
export { readVerbs, ruleYaml, type WhenForbidden, whenForbidden } from "./rights.ts";
export { writeJson } from "./write-json.ts";
