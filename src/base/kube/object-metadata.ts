// The metadata that every object, list and bookmark of the API has.
import { isRecord, type JsonRecord } from "../lib/index.ts";
import { KubeError } from "./kube-error.ts";

/** Empty where it has none. */
export function metadataOf(value: unknown): JsonRecord {
  const metadata = isRecord(value) ? value.metadata : undefined;
  return isRecord(metadata) ? metadata : {};
}

/** metadata.resourceVersion: opaque, handed back to the server as it came. */
export function revisionOf(value: unknown): string {
  const { resourceVersion } = metadataOf(value);
  if (typeof resourceVersion === "string") return resourceVersion;
  throw new KubeError("invalid", "the server sent an object without metadata.resourceVersion");
}
