// What is said of a kind, and said once: its file in this room says where each datastore keeps it, who may do what with
// it, how people name and list it, what it looks like, what is filled in and which rules hold. registry.ts has them all.
//
// The facts are plain values and cost nothing to load. Schemas, checks and defaults are functions or lazy: nothing of them
// is made before somebody reads, checks or writes an object of the kind (bench: docs/decisions/0022).
import { once } from "../../base/lib/index.ts";
import {
  type CrdSchema,
  type ObjectMeta,
  type ResourceKind,
  resourceKindInfo,
  resourceRoot,
  type Schema,
} from "../model/index.ts";
import type { Check, Problem } from "./checks/check.ts";
import type { Columns } from "./columns.ts";

/** How objects look: as Kubernetes serves them, or as Calico stores them in etcd. */
export type Flavour = "kubernetes" | "etcdv3";

/** The two groups in which Kubernetes may serve Calico's own kinds. */
export type CalicoGroup = "crd.projectcalico.org" | "projectcalico.org";

/** Where the Kubernetes API serves a kind. Calico's own kinds are served by whichever of its two groups is in use. */
type KubernetesPlace =
  | CalicoPlace
  | {
      readonly group: string;
      readonly version: string;
      readonly plural: string;
      /** The name in objects, where it is not ours. */
      readonly kind?: string;
    };

type CalicoPlace = {
  readonly group: "calico";
  readonly plural: string;
  /** What the kind is called in projectcalico.org/v3, where crd.projectcalico.org/v1 has another name for it. */
  readonly inNewGroup?: { readonly kind: string; readonly plural: string };
};

/** Programs whose service accounts need rights. */
export type Role = "typha" | "node" | "cni" | "ctl";
type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete";
/** Of the object itself, or of its status. */
export type Right = Verb | `status:${"update" | "patch"}`;

export type KindSchema = {
  readonly spec: Schema<unknown>;
  /** Written through its own subresource. */
  readonly status?: Schema<unknown>;
  /** Rules of the object as a whole, for the CRD. */
  readonly crd?: CrdSchema;
};

/** What `kubectl get` shows of an object. */
type PrinterColumn = readonly [name: string, path: string, type: "string" | "boolean" | "integer" | "number" | "date"];

/** What projectcalico.org/v3 says of a kind that crd.projectcalico.org/v1 does not. */
export type NewGroup = {
  readonly shortNames?: readonly string[];
  readonly columns?: readonly PrinterColumn[];
  /** Fields by which a list may be narrowed. */
  readonly selectable?: readonly string[];
  /** What is said of members of the spec besides. */
  readonly spec?: { readonly [member: string]: CrdSchema };
};

export type KindInfo = {
  readonly namespaced: boolean;
  /** Absent: the kind does not exist in Kubernetes mode. */
  readonly kubernetes?: KubernetesPlace;
  /** The prefix below which etcd holds the kind. Without it and without a key, the kind does not exist in etcd mode. */
  readonly etcdPrefix?: string;
  /** The one key that holds the only object of the kind, which is called "default". */
  readonly etcdKey?: string;
  /** Typha lists and watches it, because a syncer is fed by it. Other programs read and write the rest when they need to. */
  readonly followed: boolean;
  /**
   * "enforcement": a cluster whose data plane lacks it would let through, or drop, the wrong packets, so a server that
   * may not read it must not become ready. "optional": without it something is not shown or not offered.
   */
  readonly carries: "enforcement" | "optional";
  /** "custom-resource": a missing CRD is an empty list. "api": a missing API is looked for again every 30 minutes. */
  readonly whenMissing: "custom-resource" | "api";
  /** What people call it on the command line, in any letter case. Absent: it cannot be named there. */
  readonly names?: readonly string[];
  /** What a table of its objects shows. */
  readonly columns?: Columns;
  /** Beyond listing and watching what is followed. */
  readonly rights?: { readonly [R in Role]?: readonly Right[] };
  /** Absent: objects of the kind are read member by member, or not at all. */
  readonly schema?: KindSchema;
  readonly newGroup?: NewGroup;
  /** What is filled in when an object is written. Given what has been read against the schema; answers the new spec. */
  readonly fill?: Fill;
  /** What is filled in is also shown to whoever reads an object that lacks it. */
  readonly fillsOnRead?: true;
  /** The rules of the spec's fields, made when first asked for. */
  readonly checks?: () => Check<object>;
  /** The rules of the object as a whole, which come last. */
  readonly wholeChecks?: (object: SpecObject<object>) => Iterable<Problem>;
  /** What is looked at before a write, and stops it: only then are the other rules applied. */
  readonly beforeWrite?: (object: SpecObject<object>, previous: SpecObject<object> | undefined) => Iterable<Problem>;
  /** Rules that need other objects. They are said here, and applied by whoever has a datastore. */
  readonly crossRules?: readonly CrossRule[];
};

/** An object that was read against the schema of its kind. */
export type SpecObject<S> = { readonly metadata: ObjectMeta; readonly spec: S; readonly status?: object };

type Fill = (object: SpecObject<object>) => SpecObject<object>;

export type CrossRule = {
  readonly before: readonly ("create" | "update" | "delete")[];
  /** The kinds whose objects decide. */
  readonly needs: readonly string[];
  readonly rule: string;
};

/** Rules and defaults know their kind's spec, loops over all kinds do not: the schema has made sure that it is one. */
export function specChecks<S extends object>(make: () => Check<S>): () => Check<object> {
  return once(make as () => Check<object>);
}

export function forSpec<S extends object, A extends unknown[], R>(
  rule: (object: SpecObject<S>, ...rest: A) => R,
): (object: SpecObject<object>, ...rest: A) => R {
  return rule as (object: SpecObject<object>, ...rest: A) => R; // as above
}

/** A kind that Calico defines in a cluster: it has a schema and a CRD. */
export type CustomResource = KindInfo & {
  readonly schema: KindSchema;
  readonly kubernetes: CalicoPlace;
};

type Said = Omit<KindInfo, "namespaced" | "kubernetes" | "followed" | "whenMissing" | "carries"> & {
  readonly carries?: KindInfo["carries"];
};

/** Calico's own kinds: custom resources, or stored below their plural. Plural and scope are those of their keys. */
export function followedResource(
  kind: ResourceKind | "IPAMBlock",
  said: Said & { readonly schema: KindSchema; readonly carries: KindInfo["carries"] },
): CustomResource {
  return { ...customResource(kind, said), followed: true, carries: said.carries };
}

/** Calico's own kinds that no client of a Typha is told of. */
export function customResource(
  kind: ResourceKind | "IPAMBlock" | "IPAMHandle",
  said: Said & {
    readonly schema: KindSchema;
    readonly inNewGroup?: { readonly kind: string; readonly plural: string };
  },
): CustomResource {
  const { inNewGroup, ...facts } = said;
  const { plural, isNamespaced } = placeOf(kind);
  const isElsewhere = facts.etcdKey !== undefined || facts.etcdPrefix !== undefined;
  return {
    namespaced: isNamespaced,
    kubernetes: { group: "calico", plural, ...(inNewGroup === undefined ? {} : { inNewGroup }) },
    ...(isElsewhere ? {} : { etcdPrefix: `${resourceRoot}/${plural}/` }),
    followed: false,
    carries: "optional",
    whenMissing: "custom-resource",
    ...facts,
  };
}

/** IPAM's own objects have keys of their own, so no ResourceKey names them. */
function placeOf(kind: ResourceKind | "IPAMBlock" | "IPAMHandle"): { plural: string; isNamespaced: boolean } {
  const known = resourceKindInfo(kind);
  return known ?? { plural: `${kind.toLowerCase()}s`, isNamespaced: false };
}

/** Kinds of Kubernetes or of those who extend it: GROUP/VERSION/PLURAL, without a group for the core's. */
export function servedKind(
  path: string,
  scope: "cluster" | "namespaced",
  said: Said & { readonly carries: KindInfo["carries"]; readonly followed?: boolean; readonly kindName?: string },
): KindInfo {
  const [plural = "", version = "", group = ""] = path.split("/").reverse();
  const { kindName, ...facts } = said;
  return {
    namespaced: scope === "namespaced",
    kubernetes: { group, version, plural, ...(kindName === undefined ? {} : { kind: kindName }) },
    followed: true,
    whenMissing: "api",
    ...facts,
  };
}

/** What Kubernetes has other kinds for, so that only etcd and folders store it. */
export function etcdKind(
  kind: ResourceKind,
  said: Said & { readonly carries: KindInfo["carries"]; readonly followed?: boolean },
): KindInfo {
  const { plural, isNamespaced } = placeOf(kind);
  return {
    namespaced: isNamespaced,
    etcdPrefix: `${resourceRoot}/${plural}/`,
    followed: true,
    whenMissing: "api",
    ...said,
  };
}

/** Kinds of which there is one object. */
export function* onlyDefault({ name = "" }: ObjectMeta, reason: string): Generator<Problem> {
  if (name !== "default") yield { field: "metadata.name", rule: "must be default", name: "", reason };
}
