// The interfaces in front of every datastore. A Reader lists in pages and watches from a revision; a Writer creates,
// changes and deletes with compare-and-swap. Followers (follow/) take a Reader only, so that writing cannot slow the
// stream. Whoever changes an object takes both, through edit.ts, which owns the loop of reading, changing and writing.
// Implementations: kubernetes/, etcd/, directory/, memory/. test/system/datastore-contract.test.ts holds them to this page.

import type { JsonRecord } from "../../base/lib/index.ts";
import type { Flavour, Kind } from "../kinds/index.ts";
import type { ManifestProblem } from "./manifest-problem.ts";

/** Opaque: only ever handed back to the datastore it came from. Never a number, never compared by size. */
export type Revision = string & { readonly revision: unique symbol };

export type ObjectId = { readonly namespace: string; readonly name: string };

/** An object as stored: parsed JSON, whose shape nobody has checked yet. */
export type StoredObject = {
  readonly id: ObjectId;
  readonly revision: Revision;
  readonly value: unknown;
  /** Why `value` is undefined: what is stored under this id cannot be read (not JSON, too deep). Invalid, not absent. */
  readonly problem?: string;
  /** Of what has no uid and was read by its id: tells it from another that is stored under the same id later. */
  readonly made?: string;
};

/** Which of a kind's objects: those that all its fields agree with. What the server can narrow down, it does. */
export type Within = {
  /** Of kinds without namespaces there are none in a namespace. */
  readonly namespace?: string;
  /** A label selector as kubectl takes it: "app=web,tier in (front,back),!old". */
  readonly labels?: string;
  readonly namePrefix?: string;
  /** The one object of that name; in each namespace, where the kind has them and none is given. */
  readonly name?: string;
};

export type ListOptions = {
  readonly signal: AbortSignal;
  readonly notOlderThan?: Revision;
  readonly within?: Within;
};

export type ListPage = {
  readonly items: readonly StoredObject[];
  /** Deleted while the list was under way, after the items: what this page or an earlier one said of them is over. */
  readonly gone?: readonly ObjectId[];
  /** The revision of the whole list, where a watch goes on. A streamed list knows it only on its last page: "" before. */
  readonly revision: Revision;
};

export type WatchOptions = {
  readonly from: Revision;
  readonly signal: AbortSignal;
  /** An object that leaves the selection, because its labels changed, is said as deleted. */
  readonly within?: Within;
};

export type WatchEvent =
  | { readonly is: "set"; readonly object: StoredObject }
  | { readonly is: "delete"; readonly id: ObjectId; readonly revision: Revision }
  | { readonly is: "bookmark"; readonly revision: Revision };

export type CallOptions = { readonly signal?: AbortSignal | undefined };

/** Every call throws "no-such-kind" where the datastore has no such kind: a missing CRD, or one it never holds. */
export type Reader = {
  /** Which set of conversions its objects need. A directory or memory datastore holds kubernetes objects. */
  readonly flavour: Flavour;
  /** Also those that Kubernetes has others for (Profile, WorkloadEndpoint, LiveMigration), beside these: a folder. */
  readonly holdsEveryKind?: true;
  list(kind: Kind, options: ListOptions): AsyncIterable<ListPage>;
  /**
   * In order, those that came together in one list, never an empty one: a busy stream is then handed on in few steps. Ends
   * normally when the server ends the stream; throws DatastoreError for everything else.
   */
  watch(kind: Kind, options: WatchOptions): AsyncIterable<readonly WatchEvent[]>;
  /** Undefined: there is no such object. */
  get(kind: Kind, id: ObjectId, options?: CallOptions): Promise<StoredObject | undefined>;
  /** What is wrong with its files now; of a datastore that is made of files only. */
  problems?(): readonly ManifestProblem[];
};

/** The id is for kinds whose stored value does not name itself: etcd's block affinities. Elsewhere the value says it. */
export type CreateOptions = CallOptions & { readonly id?: ObjectId };

/** A merge patch (RFC 7396): objects are merged, everything else is replaced, null removes a field. */
export type Patch = { readonly metadata: JsonRecord } | { readonly status: JsonRecord };

/**
 * Where an API server takes the write. "status": the kind's status subresource, for nodes and pods, whose annotations
 * Calico writes there because its roles allow no more (nodes/status, pods/status). Other datastores have one place only.
 */
export type Through = { readonly through?: "object" | "status" | undefined };

/** "conflict" unless the stored object still has this revision. */
export type PatchOptions = CallOptions & Through & { readonly revision?: Revision };

export type UpdateOptions = CallOptions & Through;

export type DeleteOptions = CallOptions & {
  /** "conflict" unless the stored object still has this revision. */
  readonly revision?: Revision;
  /** "conflict" unless the stored object is the one with this uid, and not another that has its name now. */
  readonly uid?: string;
  /** For Pods: 0 kills at once. Not given: the kind's own grace period. Where there is none, nothing waits. */
  readonly gracePeriodSeconds?: number;
};

/**
 * A write that throws "unavailable" may have happened: the answer got lost. Every other error means that it has not.
 * What changes or deletes an object that is not there throws "not-found".
 */
export type Writer = {
  /** "exists" where the object is there already. */
  create(kind: Kind, value: unknown, options?: CreateOptions): Promise<StoredObject>;
  /**
   * "conflict" unless the stored object still has this revision. Where the kind's status is a subresource (Kubernetes),
   * the stored status stays, whatever the value says; elsewhere the status is written with the object.
   */
  update(kind: Kind, object: StoredObject, options?: UpdateOptions): Promise<StoredObject>;
  /** As update, but only the status is taken from the value; all else stays as stored. */
  updateStatus(kind: Kind, object: StoredObject, options?: CallOptions): Promise<StoredObject>;
  patch(kind: Kind, id: ObjectId, patch: Patch, options?: PatchOptions): Promise<StoredObject>;
  delete(kind: Kind, id: ObjectId, options?: DeleteOptions): Promise<void>;
};

export type Datastore = Reader & Writer & AsyncDisposable;
