// What the API server says becomes what all datastores say: objects, and errors.
import { isKubeError } from "../../../base/kube/index.ts";
import type { Kind } from "../../kinds/index.ts";
import type { Revision, StoredObject } from "../datastore.ts";
import { DatastoreError } from "../errors.ts";
import { identify, metadataOf } from "../object-id.ts";

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

/** Any other error is what it is. */
export function datastoreErrorOf(error: unknown): unknown {
  if (!isKubeError(error)) return error;
  const { code, message, retryAfterMs, status, says } = error;
  return new DatastoreError(code, message, {
    cause: error.cause,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(status === undefined ? {} : { status }),
    ...(says === undefined ? {} : { says }),
  });
}

export async function translated<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw datastoreErrorOf(error);
  }
}
