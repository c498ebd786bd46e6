// Narrowed lists and watches, for what a server cannot narrow down itself: which objects are within, and what a change
// means to somebody who sees only those.
import { isRecord } from "../../base/lib/index.ts";
import type { ObjectId, Revision, StoredObject, WatchEvent, Within } from "./datastore.ts";
import { parseLabelSelector } from "./label-selector.ts";
import { metadataOf } from "./object-id.ts";

export type Selection = {
  /** By its name alone: what can be known of an object that is gone. */
  hasId(id: ObjectId): boolean;
  has(object: StoredObject): boolean;
};

/** Throws "invalid" for a label selector that is none. */
export function selectionOf({ namespace, namePrefix = "", name, labels }: Within = {}): Selection {
  const hasId = (id: ObjectId) =>
    (namespace === undefined || id.namespace === namespace) &&
    (name === undefined || id.name === name) &&
    id.name.startsWith(namePrefix);
  if (labels === undefined || labels === "") return { hasId, has: ({ id }) => hasId(id) };
  const selects = parseLabelSelector(labels);
  return { hasId, has: ({ id, value }) => hasId(id) && selects(labelsOf(value)) };
}

/**
 * The event that a change is to somebody who sees only the selection; undefined: none. What was stored before decides
 * whether a change that leads out of it is news; where nobody knows, it is said: to be told of a deletion twice is harmless.
 */
export function narrowed(
  selection: Selection,
  change: {
    before: StoredObject | undefined | "unknown";
    now: StoredObject | undefined;
    id: ObjectId;
    revision: Revision;
  },
): WatchEvent | undefined {
  const { before, now, id, revision } = change;
  if (now !== undefined && selection.has(now)) return { is: "set", object: now };
  const wasWithin = before === "unknown" ? selection.hasId(id) : before !== undefined && selection.has(before);
  return wasWithin ? { is: "delete", id, revision } : undefined;
}

function labelsOf(value: unknown): { readonly [name: string]: unknown } {
  const { labels } = metadataOf(value);
  return isRecord(labels) ? labels : {};
}
