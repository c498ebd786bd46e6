// What an object's metadata must say before it is written, and what a new object's gains. The texts are the original's.
import type { Problem } from "../kinds/index.ts";
import { type ApiKind, isNamespaced } from "./api-kinds.ts";
import { isIpamKind } from "./forms/ipam.ts";
import type { Id } from "./names.ts";
import { refuse } from "./resource-error.ts";
import type { V3Object } from "./v3-object.ts";

/** Without a name a path leads to all objects of the kind. */
export function requireName({ name }: Id): void {
  if (name !== "") return;
  const reason = "resource name may not be empty";
  refuse([{ field: "metadata.name", rule: "must be given", name: "", reason }]);
}

/** Of the metadata only what users may say of a new object. */
export function forCreate(object: V3Object): V3Object {
  const { name, namespace, labels, annotations } = object.metadata;
  return { ...object, metadata: { name, namespace, labels, annotations } };
}

export function createProblems(kind: ApiKind, { metadata }: V3Object): Problem[] {
  const { name = "", generateName = "", resourceVersion = "" } = metadata;
  if (name === "") {
    const hint = generateName === "" ? "" : " (GenerateName is not supported)";
    const reason = `field must be set for a Create request${hint}`;
    return [{ field: "metadata.name", rule: "must be given", name: "Metadata.Name", value: "", reason }];
  }
  if (resourceVersion !== "") {
    const said = { name: "Metadata.ResourceVersion", value: resourceVersion };
    const reason = "field must not be set for a Create request";
    return [{ field: "metadata.resourceVersion", rule: "must not be given for a new object", ...said, reason }];
  }
  return namespaceProblems(kind, metadata);
}

export function updateProblems(kind: ApiKind, { metadata }: V3Object): Problem[] {
  const missing = (field: keyof V3Object["metadata"], name: string, value = ""): Problem[] => {
    const reason = "field must be set for an Update request";
    return [{ field: `metadata.${field}`, rule: "must be that of the stored object", name, value, reason }];
  };
  const { resourceVersion = "", creationTimestamp = "", uid = "" } = metadata;
  if (resourceVersion === "") return missing("resourceVersion", "Metadata.ResourceVersion");
  const problems = namespaceProblems(kind, metadata);
  if (problems.length > 0 || isIpamKind(kind)) return problems;
  if (creationTimestamp === "") {
    return missing("creationTimestamp", "Metadata.CreationTimestamp", "0001-01-01 00:00:00 +0000 UTC");
  }
  return uid === "" ? missing("uid", "Metadata.UID") : [];
}

function namespaceProblems(kind: ApiKind, { namespace = "" }: V3Object["metadata"]): Problem[] {
  if (!isNamespaced(kind) || namespace !== "") return [];
  const reason = "namespace is not specified on namespaced resource";
  return [{ field: "metadata.namespace", rule: "must be given", name: "Metadata.Namespace", reason }];
}

export function isoSeconds(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, 19)}Z`;
}
