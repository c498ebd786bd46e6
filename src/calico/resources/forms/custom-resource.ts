// v3 objects as custom resources of crd.projectcalico.org/v1. The CR's own metadata belongs to the API server, so the v3
// object's lies beside it, in an annotation:
//
//   metadata:
//     name, namespace, resourceVersion   those of the v3 object
//     uid                                another one: the bits of each byte reversed (convert/object/uid.ts)
//     labels, annotations                only those with projectcalico.org/ or operator.tigera.io/ in their key
//     annotations["projectcalico.org/metadata"]
//                                        {"name":…,"creationTimestamp":…,"labels":…,"annotations":…,"ownerReferences":…}:
//                                        what the v3 object says, the name for policies of tiers only
//   spec, status                         as in v3
//
// In projectcalico.org/v3 a CR is the v3 object itself.

import type { JsonRecord } from "../../../base/lib/index.ts";
import { readResource, translateUid } from "../../convert/views.ts";
import { FieldError, type ObjectMeta, objectMeta, type StringMap } from "../../model/index.ts";
import { type ApiKind, schemasOf } from "../api-kinds.ts";
import { toV3, type V3Object } from "../v3-object.ts";

export const metadataAnnotation = "projectcalico.org/metadata";
const oldGroup = "crd.projectcalico.org/v1";
const v3Group = "projectcalico.org/v3";

/** Policies that belong to a tier: their names used to carry it, so that the v3 name is stored as well. */
export const tieredPolicies: readonly ApiKind[] = [
  "NetworkPolicy",
  "GlobalNetworkPolicy",
  "StagedNetworkPolicy",
  "StagedGlobalNetworkPolicy",
];

/** Which of Calico's two groups an API server, or a folder, holds its objects in. */
export type CustomResourceForm = "crd.projectcalico.org" | "projectcalico.org";

export type KeptMetadata =
  /** Everything that a v3 object can say. */
  | "all"
  /** Of IPAM's own objects, which were never v3 objects to those who write them. */
  | "labels";

export function toCustomResource(
  object: V3Object,
  { form, keeps = "all" }: { form: CustomResourceForm; keeps?: KeptMetadata },
): JsonRecord {
  const { kind, metadata, spec, status } = object;
  const rest = { spec, ...(status === undefined ? {} : { status }) };
  if (form === "projectcalico.org") {
    const { managedFields: _, ...own } = metadata;
    return { apiVersion: v3Group, kind, metadata: own, ...rest };
  }
  const { name, namespace, resourceVersion, uid, labels = {}, annotations = {} } = metadata;
  const kept = keeps === "labels" ? { labels } : keptMetadata(kind, metadata);
  const ownLabels = ours(labels);
  const own = {
    name,
    ...(isSaid(namespace) ? { namespace } : {}),
    ...(isSaid(uid) ? { uid: requiredUid(uid, "metadata.uid") } : {}),
    ...(isSaid(resourceVersion) ? { resourceVersion } : {}),
    ...(Object.keys(ownLabels).length === 0 ? {} : { labels: ownLabels }),
    annotations: { ...ours(annotations), [metadataAnnotation]: objectMeta.go.write(kept) },
  };
  return { apiVersion: oldGroup, kind, metadata: own, ...rest };
}

/** What the annotation says: not what the CR says itself, nor what only the API server knows. */
function keptMetadata(kind: ApiKind, metadata: ObjectMeta): ObjectMeta {
  const { namespace, resourceVersion, uid, selfLink, generation, managedFields, name, ...kept } = metadata;
  return {
    ...kept,
    ...(tieredPolicies.includes(kind) ? { name } : {}),
    ownerReferences: metadata.ownerReferences?.map((owner) => {
      if (owner.apiVersion !== v3Group) return owner;
      return { ...owner, apiVersion: oldGroup, uid: requiredUid(owner.uid ?? "", "metadata.ownerReferences") };
    }),
  };
}

function ours(texts: StringMap): StringMap {
  return Object.fromEntries(
    Object.entries(texts).filter(([key]) => key.includes("projectcalico.org/") || key.includes("operator.tigera.io/")),
  );
}

function isSaid(text: string | undefined): text is string {
  return text !== undefined && text !== "";
}

function requiredUid(uid: string, field: string): string {
  const translated = translateUid(uid);
  if (translated === undefined) throw new FieldError(field, "must be a UUID");
  return translated;
}

/** Of a CR of either group. Throws FieldError for one that cannot be read. */
export function fromCustomResource(kind: ApiKind, value: unknown, revision: string): V3Object {
  const { metadata, spec, status } = readResource(kind, schemasOf(kind).spec, value);
  const { managedFields: _, generation: __, ...own } = metadata;
  return toV3(kind, { metadata: { ...own, resourceVersion: revision }, spec, status });
}
