// metadata of every API object, with Go's field order.
import { int64 } from "./schema/read-json.ts";
import { time } from "./schema/scalars.ts";
import { flag, integer, kept, list, map, optional, raw, type SchemaType, struct, text } from "./schema/schema.ts";

const ownerReference = struct({
  apiVersion: kept(text()),
  kind: kept(text()),
  name: kept(text()),
  uid: kept(text()),
  controller: optional(flag()),
  blockOwnerDeletion: optional(flag()),
});

const managedFieldsEntry = struct({
  manager: text(),
  operation: text(),
  apiVersion: text(),
  time,
  fieldsType: text(),
  fieldsV1: raw(),
  subresource: text(),
});

export const objectMeta = struct({
  name: text(),
  generateName: text(),
  namespace: text(),
  selfLink: text(),
  uid: text(),
  resourceVersion: text(),
  generation: integer(int64),
  creationTimestamp: time,
  deletionTimestamp: optional(time),
  deletionGracePeriodSeconds: optional(integer(int64)),
  labels: map(text()),
  annotations: map(text()),
  ownerReferences: list(ownerReference),
  finalizers: list(text()),
  managedFields: list(managedFieldsEntry),
});
export type ObjectMeta = SchemaType<typeof objectMeta>;

/** As it is sent: the resource version travels beside the value, not in it. */
export function writeObjectMeta(meta: ObjectMeta): string {
  return objectMeta.go.write({ ...meta, resourceVersion: "" });
}
