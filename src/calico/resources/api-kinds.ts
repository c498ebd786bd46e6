// The kinds that v3 objects come in: the schema of each, and where a datastore keeps it.
import {
  type CustomKind,
  customKinds,
  type Flavour,
  type Kind,
  kindInfo,
  storedKind,
  v3BlockAffinitySpec,
} from "../kinds/index.ts";
import type { Schema } from "../model/index.ts";

/** IPAMConfig is IPAMConfiguration to users, and what IPAM itself keeps in etcd. */
export type ApiKind = CustomKind | "IPAMConfiguration" | "Node" | "Profile" | "WorkloadEndpoint";

export const apiKinds: readonly ApiKind[] = [
  ...customKinds,
  "IPAMConfiguration",
  "Node",
  "Profile",
  "WorkloadEndpoint",
];

export function isApiKind(kind: string): kind is ApiKind {
  return (apiKinds as readonly string[]).includes(kind);
}

export function isNamespaced(kind: ApiKind): boolean {
  return kindInfo(kind).namespaced;
}

export type Schemas = {
  readonly spec: Schema<unknown>;
  readonly status?: Schema<unknown>;
  /** In Go a struct and not a pointer: there even when it is empty. */
  readonly hasStatusAlways: boolean;
};

const alwaysWithStatus: readonly ApiKind[] = ["Tier", "Node", "KubeControllersConfiguration", "CalicoNodeStatus"];

export function schemasOf(kind: ApiKind): Schemas {
  const hasStatusAlways = alwaysWithStatus.includes(kind);
  const { schema } = kindInfo(kind);
  if (schema === undefined) throw new RangeError(`${kind} has no schema`); // each of ApiKind has one
  // Our own group stores it with a text where v3 has a truth.
  return { ...schema, ...(kind === "BlockAffinity" ? { spec: v3BlockAffinitySpec } : {}), hasStatusAlways };
}

/** How a datastore holds a v3 kind: as an object of its own, or as something of Kubernetes' that it is a view of. */
export type Home =
  | { readonly is: "object"; readonly kind: Kind }
  | { readonly is: "node" | "pod" | "namespace-or-account" };

export function homeOf(kind: ApiKind, flavour: Flavour): Home {
  if (flavour === "etcdv3") return { is: "object", kind };
  switch (kind) {
    case "Node":
      return { is: "node" };
    case "WorkloadEndpoint":
      return { is: "pod" };
    case "Profile":
      return { is: "namespace-or-account" };
    default:
      return { is: "object", kind: storedKind(kind, flavour) };
  }
}
