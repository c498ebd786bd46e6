// Where the API server has a kind: group, version, plural, and the kind's name in objects.
import { type Discovery, isKubeError } from "../../../base/kube/index.ts";
import { type Kind, kindInfo, storedKind } from "../../kinds/index.ts";
import type { ObjectId } from "../datastore.ts";
import { neverHeld } from "../no-such-kind.ts";

/** Calico's kinds are in one of these, or in both. */
export const calicoGroups = ["crd.projectcalico.org", "projectcalico.org"] as const;
export type CalicoGroup = (typeof calicoGroups)[number];

export type Served = {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kindName: string;
  readonly namespaced: boolean;
};

export function servedAt(given: Kind, calicoGroup: CalicoGroup): Served {
  const kind = storedKind(given, "kubernetes");
  const { kubernetes: source, namespaced } = kindInfo(kind);
  if (source === undefined) throw neverHeld(kind, "kubernetes");
  const { group, plural } = source;
  if ("version" in source) return { group, version: source.version, plural, kindName: source.kind ?? kind, namespaced };
  if (calicoGroup === "crd.projectcalico.org")
    return { group: calicoGroup, version: "v1", plural, kindName: kind, namespaced };
  const renamed = source.inNewGroup ?? { kind, plural };
  return { group: calicoGroup, version: "v3", plural: renamed.plural, kindName: renamed.kind, namespaced };
}

/** /api/v1 or /apis/GROUP/VERSION. */
export function groupPath({ group, version }: { group: string; version: string }): string {
  return group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
}

/** Of all namespaces, where none is given. */
export function collectionPath(served: Served, namespace = ""): string {
  const within = served.namespaced && namespace !== "" ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${groupPath(served)}${within}/${served.plural}`;
}

export function objectPath(served: Served, id: ObjectId, subresource?: "status"): string {
  const path = `${collectionPath(served, id.namespace)}/${encodeURIComponent(id.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

export function apiVersionOf({ group, version }: Served): string {
  return group === "" ? version : `${group}/${version}`;
}

/** Which group has Calico's kinds: as configured, else v3 only where it is alone. Throws while the server is away. */
export async function calicoGroupOf(
  configured: string | undefined,
  discovery: Discovery,
  signal?: AbortSignal,
): Promise<CalicoGroup> {
  if (configured)
    return configured.toLowerCase() === "projectcalico.org/v3" ? "projectcalico.org" : "crd.projectcalico.org";
  try {
    const groups = await discovery.groups(signal);
    const isV3Alone = groups.includes("projectcalico.org") && !groups.includes("crd.projectcalico.org");
    return isV3Alone ? "projectcalico.org" : "crd.projectcalico.org";
  } catch (error) {
    if (isKubeError(error, "forbidden", "not-found", "invalid")) return "crd.projectcalico.org";
    throw error;
  }
}
