// v3 objects as etcd keeps them: the v3 JSON itself under /calico/resources/v3/projectcalico.org/PLURAL/[NAMESPACE/]NAME,
// without resourceVersion, which is the key's revision. Policies of tiers carry their name once more, in an annotation,
// because releases that put the tier into stored names must still find it. IPAM's own objects are in forms/ipam.ts.

import { isRecord, type JsonRecord, parseJson } from "../../../base/lib/index.ts";
import { annotationField, ownText, parseOrUndefined } from "../../convert/views.ts";
import { FieldError, type ObjectMeta, recordOf, writeGoString } from "../../model/index.ts";
import type { ApiKind } from "../api-kinds.ts";
import type { Id } from "../names.ts";
import { partsOf, specOf, toV3, type V3Object, writeV3 } from "../v3-object.ts";
import { metadataAnnotation, tieredPolicies } from "./custom-resource.ts";

export function toEtcdResource(object: V3Object): JsonRecord {
  const { resourceVersion: _, managedFields: __, selfLink: ___, ...metadata } = object.metadata;
  const marked = tieredPolicies.includes(object.kind) ? withName(metadata) : metadata;
  // Written and read, so that members and the keys of maps stand in Go's order; what is stored is written from it.
  return recordOf(parseJson(writeV3(object.kind, { ...object, metadata: marked })), "");
}

function withName(metadata: ObjectMeta): ObjectMeta {
  const annotation = `{"name":${writeGoString(metadata.name ?? "")}}`;
  return { ...metadata, annotations: { ...metadata.annotations, [metadataAnnotation]: annotation } };
}

/** Throws FieldError for what cannot be read. */
export function fromEtcdResource(kind: ApiKind, stored: { id: Id; value: unknown; revision: string }): V3Object {
  const parts = partsOf(kind, stored.value);
  const named = { ...parts.metadata, name: parts.metadata.name ?? stored.id.name };
  const metadata = tieredPolicies.includes(kind) ? withoutName(named, specOf(stored.value).tier) : named;
  return toV3(kind, { ...parts, metadata: { ...metadata, resourceVersion: stored.revision } });
}

function withoutName(metadata: ObjectMeta, tier: unknown): ObjectMeta {
  const { name = "", annotations = {} } = metadata;
  const kept = ownText(annotations, metadataAnnotation);
  const { [metadataAnnotation]: _, ...others } = annotations;
  if (kept === undefined || kept === "") {
    const isDefault = tier === undefined || tier === null || tier === "" || tier === "default";
    return { ...metadata, name: isDefault && name.startsWith("default.") ? name.slice("default.".length) : name };
  }
  return { ...metadata, name: keptName(kept), annotations: others };
}

function keptName(text: string): string {
  const kept = parseOrUndefined(text);
  const name = isRecord(kept) ? (kept.name ?? "") : undefined;
  if (typeof name !== "string") {
    throw new FieldError(annotationField(metadataAnnotation), "must be JSON that says the policy's name");
  }
  return name;
}
