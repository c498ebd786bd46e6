// JSON merge patches (RFC 7396), for datastores whose server has none.
import { isRecord, type JsonRecord } from "../../base/lib/index.ts";
import type { Patch } from "./datastore.ts";
import { DatastoreError } from "./errors.ts";

/** The value with the patch in it. Nothing of the value is changed; what the patch does not touch is shared. */
export function applyPatch(value: unknown, patch: Patch): JsonRecord {
  return mergeObjects(value, patch, 0);
}

const maxDepth = 200;

function mergeObjects(target: unknown, patch: JsonRecord, depth: number): JsonRecord {
  if (depth > maxDepth) throw new DatastoreError("invalid", `the patch is nested deeper than ${maxDepth} levels`);
  const merged = new Map(Object.entries(isRecord(target) ? target : {}));
  for (const [name, field] of Object.entries(patch)) {
    if (field === null) merged.delete(name);
    else merged.set(name, isRecord(field) ? mergeObjects(merged.get(name), field, depth + 1) : field);
  }
  return Object.fromEntries(merged);
}
