// Reads a Calico resource out of either datastore: cleaned, its metadata translated where a CRD of the old group holds it,
// and typed. Throws FieldError for an object that Go could not decode either.
import { type JsonRecord, parseJson } from "../../../base/lib/index.ts";
import {
  cleanJson,
  FieldError,
  member,
  type ObjectMeta,
  objectMeta,
  readSchema,
  recordOf,
  type Schema,
  writeGoString,
  writeObjectMeta,
} from "../../model/index.ts";
import { attempt } from "../processor/processor.ts";
import { annotationField, ownText } from "./annotations.ts";
import { requiredUid } from "./uid.ts";

export type Resource<S> = {
  readonly metadata: ObjectMeta;
  readonly spec: S;
  /** Checked by the kinds that send it. */
  readonly status: unknown;
};

const metadataAnnotation = "projectcalico.org/metadata";
const oldGroup = "crd.projectcalico.org/v1";
const v3 = "projectcalico.org/v3";
const tieredPolicies = ["NetworkPolicy", "GlobalNetworkPolicy", "StagedNetworkPolicy", "StagedGlobalNetworkPolicy"];

export function readResource<S>(kind: string, schema: Schema<S>, value: unknown): Resource<S> {
  const object = recordOf(cleanJson(value), "");
  const metadata = readSchema(objectMeta, member(object, "metadata") ?? {}, "metadata");
  const spec = readSchema(schema, member(object, "spec") ?? {}, "spec");
  const isOldGroup = member(object, "apiVersion") === oldGroup;
  return {
    metadata: isOldGroup ? translateMetadata(metadata, { kind, tier: tierOf(object) }) : metadata,
    spec,
    status: member(object, "status"),
  };
}

function tierOf(object: JsonRecord): unknown {
  const spec = member(object, "spec");
  return spec === undefined ? undefined : member(recordOf(spec, "spec"), "tier");
}

/**
 * CRDs of the old group keep a resource's own metadata in an annotation, and the CR's beside it. The UID is Calico's, not
 * the CR's. Without the annotation the CR's metadata is taken as it is.
 */
function translateMetadata(own: ObjectMeta, { kind, tier }: { kind: string; tier: unknown }): ObjectMeta {
  const uid = own.uid === undefined || own.uid === "" ? "" : requiredUid(own.uid);
  const { [metadataAnnotation]: kept, ...ownAnnotations } = own.annotations ?? {};
  if (kept === undefined) return { ...own, uid };
  const inner = readKept(kept);
  const isTrimmed = tieredPolicies.includes(kind) && (tier === undefined || tier === "" || tier === "default");
  const ownName = own.name ?? "";
  return {
    ...inner,
    ownerReferences: inner.ownerReferences?.map((owner) => {
      if (owner.apiVersion !== oldGroup && owner.apiVersion !== v3) return owner;
      return { ...owner, apiVersion: v3, uid: requiredUid(owner.uid ?? "", `${keptField}: ownerReferences`) };
    }),
    labels: overlay(own.labels, inner.labels),
    annotations: { ...ownAnnotations, ...inner.annotations },
    name: inner.name || (isTrimmed && ownName.startsWith("default.") ? ownName.slice(8) : ownName),
    namespace: own.namespace,
    resourceVersion: own.resourceVersion,
    uid,
    creationTimestamp: inner.creationTimestamp || own.creationTimestamp,
  };
}

/** No labels at all is not the same as an empty set of them: clients see null and {}. */
function overlay(under: ObjectMeta["labels"], over: ObjectMeta["labels"]): ObjectMeta["labels"] {
  return under === undefined && Object.keys(over ?? {}).length === 0 ? undefined : { ...under, ...over };
}

const keptField = annotationField(metadataAnnotation);

function readKept(text: string): ObjectMeta {
  let parsed: unknown;
  try {
    parsed = parseJson(text);
  } catch {
    throw new FieldError(keptField, "must be JSON");
  }
  const read = attempt(() => readSchema(objectMeta, cleanJson(parsed ?? {}), ""));
  if (read instanceof FieldError) throw new FieldError(keptField, read.message);
  return read;
}

/** Throws FieldError where the metadata kept in an annotation cannot be read. */
export function checkKeptMetadata({ annotations = {} }: ObjectMeta): void {
  const kept = ownText(annotations, metadataAnnotation) ?? "";
  if (kept !== "") readKept(kept);
}

/** A resource as it is sent whole. `spec` and `status` are JSON already. */
export function writeResource(kind: string, metadata: ObjectMeta, parts: { spec: string; status?: string }): string {
  const status = parts.status === undefined ? "" : `,"status":${parts.status}`;
  const head = `{"kind":${writeGoString(kind)},"apiVersion":"${v3}","metadata":${writeObjectMeta(metadata)}`;
  return `${head},"spec":${parts.spec}${status}}`;
}
