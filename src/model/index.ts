// Calico's keys, values and resource kinds; nothing in this folder runs by itself.
export { type Kind, type KindInfo, type KubernetesSource, kindInfo, kindNames, kinds } from "./kinds.ts";
export {
  type KvUpdate,
  type SyncerBatch,
  type SyncerType,
  type SyncStatus,
  syncerTypes,
  syncStatus,
  type UpdateType,
  updateType,
} from "./update.ts";
