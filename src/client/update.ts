// What a consumer of follow() sees.
import { isRecord, type Key, parseJson, pathToKey, type SyncStatus } from "../model/index.ts";

export type SetUpdate = {
  readonly is: "set";
  /** The key's default path; keyOf() gives the typed key. */
  readonly path: string;
  /** As sent: JSON for most keys, plain text for configuration; readValue() reads it. */
  readonly value: string;
  readonly revision: string;
  readonly v3ResourceVersion: string;
  /** False: the consumer has been told of this key before. */
  readonly isNew: boolean;
};

export type DeleteUpdate = {
  readonly is: "delete";
  readonly path: string;
  /**
   * "deleted": the object is gone. "invalid": it is there, and the server found nothing in it that can be used. "gone":
   * it went while we had no connection, which is known since the new one is in sync.
   */
  readonly why: "deleted" | "invalid" | "gone";
};

export type Update =
  | SetUpdate
  | DeleteUpdate
  /** In sync means: everything the server had when we connected has been said. */
  | { readonly is: "status"; readonly status: SyncStatus };

/** The key of an update, or undefined where this version does not know its kind. */
export function keyOf(update: SetUpdate | DeleteUpdate): Key | undefined {
  return pathToKey(update.path);
}

const plainTextKeys: ReadonlySet<Key["is"]> = new Set([
  "GlobalConfig",
  "HostConfig",
  "GlobalBgpConfig",
  "NodeBgpConfig",
]);

/** The value read: text for configuration, a boolean for the ready flag, parsed JSON for the rest. */
export function readValue(update: SetUpdate): unknown {
  const key = keyOf(update);
  if (key !== undefined && plainTextKeys.has(key.is)) return update.value;
  const value = parseJson(update.value);
  // The server takes an object's resource version out of it, so that a change of nothing else is no change.
  if (update.v3ResourceVersion !== "" && isRecord(value) && isRecord(value.metadata)) {
    return { ...value, metadata: { ...value.metadata, resourceVersion: update.v3ResourceVersion } };
  }
  return value;
}
