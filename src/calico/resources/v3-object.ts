// A v3 object: what users write and read, whatever the datastore. Canonical: typed by its kind's schema, unknown fields gone,
// empty fields left out as Go leaves them out, durations, times and AS numbers in one spelling. Two objects that mean the
// same have the same text.
import { isRecord, type JsonRecord, parseJson } from "../../base/lib/index.ts";
import { cleanJson, member, type ObjectMeta, objectMeta, readSchema, recordOf, writeGoString } from "../model/index.ts";
import { type ApiKind, schemasOf } from "./api-kinds.ts";

export const v3Version = "projectcalico.org/v3";

export type V3Object<Spec = JsonRecord> = {
  readonly kind: ApiKind;
  readonly apiVersion: typeof v3Version;
  /** resourceVersion is opaque: only ever handed back to the datastore it came from. */
  readonly metadata: ObjectMeta;
  readonly spec: Spec;
  readonly status?: JsonRecord;
};

/** What a schema has been over, and what it has not: status is read here. */
export type V3Parts = { readonly metadata: ObjectMeta; readonly spec: unknown; readonly status?: unknown };

/** Of whatever a user or a program gives. Throws FieldError for what does not fit the kind. */
export function readV3(kind: ApiKind, value: unknown): V3Object {
  return parseV3(writeV3(kind, partsOf(kind, value)));
}

/** Typed, but not yet canonical. Throws FieldError. */
export function partsOf(kind: ApiKind, value: unknown): V3Parts {
  const object = recordOf(cleanJson(value), "");
  return {
    metadata: readSchema(objectMeta, member(object, "metadata") ?? {}, "metadata"),
    spec: readSchema(schemasOf(kind).spec, member(object, "spec") ?? {}, "spec"),
    status: member(object, "status"),
  };
}

/** The parts as one canonical object. Throws FieldError for a status that does not fit. */
export function toV3(kind: ApiKind, parts: V3Parts): V3Object {
  return parseV3(writeV3(kind, parts));
}

/** The JSON that Go writes, byte for byte: kind, apiVersion, metadata, spec, status, each with its fields in Go's order. */
export function writeV3(kind: ApiKind, { metadata, spec, status }: V3Parts): string {
  const schemas = schemasOf(kind);
  const head = `{"kind":${writeGoString(kind)},"apiVersion":"${v3Version}"`;
  const written = `,"metadata":${objectMeta.go.write(metadata)},"spec":${schemas.spec.go.write(spec)}`;
  return `${head}${written}${writeStatus(schemas, status)}}`;
}

function writeStatus({ status: schema, hasStatusAlways }: ReturnType<typeof schemasOf>, status: unknown): string {
  if (schema === undefined || (status === undefined && !hasStatusAlways)) return "";
  return `,"status":${schema.go.write(readSchema(schema, cleanJson(status ?? {}, "status"), "status"))}`;
}

function parseV3(text: string): V3Object {
  return parseJson(text) as V3Object; // just written by the schemas, in this very shape
}

/** The spec of an object that may be anything. */
export function specOf(value: unknown): JsonRecord {
  const spec = isRecord(value) ? value.spec : undefined;
  return isRecord(spec) ? spec : {};
}
