// The metadata of Kubernetes' own objects, which are not translated as those of Calico's resources are.
import type { JsonRecord } from "../../../base/lib/index.ts";
import {
  canonicalTime,
  cleanJson,
  FieldError,
  member,
  type ObjectMeta,
  objectMeta,
  readSchema,
  stringAt,
} from "../../model/index.ts";

/** All of it. Throws FieldError for what Go could not read either. */
export function readMetadata(object: JsonRecord): ObjectMeta {
  return readSchema(objectMeta, cleanJson(member(object, "metadata") ?? {}, "metadata"), "metadata");
}

/** In canonical form, "" where there is none; for kinds whose metadata is read member by member. */
export function creationTimeOf(metadata: JsonRecord): string {
  const created = stringAt(metadata, "creationTimestamp", "metadata");
  const time = created === undefined ? "" : canonicalTime(created);
  if (time === undefined) throw new FieldError("metadata.creationTimestamp", "must be a time");
  return time;
}
