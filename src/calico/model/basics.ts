// What travels, without the schemas of what it is made from: updates, keys and JSON. A second door beside index.ts for
// wire/ and client/, because a program that only follows a Typha should not pay for the schemas of forty kinds.
// layers.json names the door.
export type { Key, ResourceKey } from "./keys/keys.ts";
export { pathToKey } from "./keys/path-to-key.ts";
export { ModernPolicies } from "./modern-policies.ts";
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
