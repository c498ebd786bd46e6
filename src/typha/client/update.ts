// What a consumer of follow() sees.
import { isRecord, parseJson } from "../../base/lib/index.ts";
import { type Key, pathToKey, type SyncStatus } from "../../calico/model/basics.ts";
import type { Entry } from "./values.ts";

/** A key has this value now. */
export type SetUpdate = {
  readonly is: "set";
  /** The key's default path; keyOf() gives the typed key. */
  readonly path: string;
  /** As sent: JSON for most keys, plain text for configuration; readEntry() reads it. */
  readonly value: string;
  readonly revision: string;
  readonly v3ResourceVersion: string;
  /** False: the consumer has been told of this key before. */
  readonly isNew: boolean;
};

/** A key has no value any more. */
export type DeleteUpdate = {
  readonly is: "delete";
  readonly path: string;
  /**
   * "deleted": the object is gone. "invalid": it is there, and the server found nothing in it that can be used. "gone":
   * it went while we had no connection, which is known since the new one is in sync.
   */
  readonly why: "deleted" | "invalid" | "gone";
};

/** How far the connection is; syncStatus.inSync: everything the server had when we connected has been said. */
export type StatusUpdate = { readonly is: "status"; readonly status: SyncStatus };

/**
 * Why there is no connection, once for each attempt that failed and each connection that was lost. Only for whoever asks
 * with `withProblems`. A status follows when there is one again.
 */
export type ProblemUpdate = {
  readonly is: "problem";
  /** As a CattailError has them: docs/reference/errors.md lists the codes. */
  readonly code: string;
  readonly problem: string;
  readonly next: string;
  /** Attempts in a row that did not get in sync, this one included; 0 where a connection was lost that had been. */
  readonly failures: number;
};

/** What follow() yields; `is` tells which. */
export type Update = SetUpdate | DeleteUpdate | StatusUpdate;

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

/**
 * Key and value with their types: text for configuration, a boolean for the ready flag, parsed JSON for the rest. Never
 * throws; what cannot be read is `{ is: "unknown", why }`.
 */
export function readEntry(update: SetUpdate): Entry {
  const { path, value: text } = update;
  const key = keyOf(update);
  if (key === undefined) return { is: "unknown", path, value: text, why: "no kind of key has this path" };
  try {
    const value = readValue(key, update);
    const kind = key.is === "Resource" ? { kind: key.kind } : {};
    return { is: key.is, ...kind, key, value } as Entry; // JSON becomes what the server promises for this key
  } catch (error) {
    return { is: "unknown", path, value: text, why: error instanceof Error ? error.message : String(error) };
  }
}

/** Whether the key's values are text rather than JSON. */
export function isPlainText(key: Key | undefined): boolean {
  return key !== undefined && plainTextKeys.has(key.is);
}

function readValue(key: Key | undefined, update: SetUpdate): unknown {
  if (isPlainText(key)) return update.value;
  const value = parseJson(update.value);
  // The server takes an object's resource version out of it, so that a change of nothing else is no change.
  if (update.v3ResourceVersion !== "" && isRecord(value) && isRecord(value.metadata)) {
    return { ...value, metadata: { ...value.metadata, resourceVersion: update.v3ResourceVersion } };
  }
  return value;
}
