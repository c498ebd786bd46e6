// An object as the API server sends it becomes a StoredObject; a list's and a watch's own metadata are read here too.
import type { Kind } from "../../model/index.ts";
import type { Revision, StoredObject } from "../datastore.ts";
import { DatastoreError } from "../errors.ts";
import { identify, metadataOf } from "../identify.ts";

export function storedObject(kind: Kind, value: unknown): StoredObject {
  return { id: identify(kind, value), revision: revisionOf(value), value };
}

/** metadata.resourceVersion of an object, a list or a bookmark. */
export function revisionOf(value: unknown): Revision {
  const { resourceVersion } = metadataOf(value);
  if (typeof resourceVersion !== "string") {
    throw new DatastoreError("invalid", "the server sent an object without metadata.resourceVersion");
  }
  return resourceVersion as Revision; // opaque from here on
}
