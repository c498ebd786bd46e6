// The interface: v3 objects in, v3 objects out. Everything that goes in is read by its kind's schema, completed, checked,
// and stored in the form of the datastore; everything that comes out is canonical. Whoever changes an object does so with
// `edit`, or reads it and hands it back to `update` with the resourceVersion it had.
import type { Within } from "../datastore/index.ts";
import type { ApiKind } from "./api-kinds.ts";
import type { Call, ChangeV3, Listed, ResourceEvent } from "./homes/home.ts";
import type { Id } from "./names.ts";
import type { V3Object } from "./v3-object.ts";

/** The namespace is "" for kinds that have none. */
export type ResourceId = Id;

export type ListOptions = Call & { readonly within?: Within };
export type WatchOptions = {
  /** A list's revision, or a bookmark's. */
  readonly from: string;
  readonly signal: AbortSignal;
  readonly within?: Within;
};
export type DeleteOptions = Call & {
  /** "conflict" unless the stored object still has it. */
  readonly resourceVersion?: string;
  /** The v3 object's. "not-found" unless the stored object is that very one. */
  readonly uid?: string;
};

/** Every method throws ResourceError for what is wrong with the object or the datastore. */
export type Resources = {
  /** Throws "not-found". */
  get(kind: ApiKind, id: ResourceId, options?: Call): Promise<V3Object>;
  /** What cannot be read is in `unreadable`, beside the rest. */
  list(kind: ApiKind, options?: ListOptions): Promise<Listed>;
  /** Ends when the datastore ends the stream; throws for everything else. List again then. */
  watch(kind: ApiKind, options: WatchOptions): AsyncIterable<readonly ResourceEvent[]>;
  /** The object must not have a resourceVersion. Gets a uid and the time where it has none. */
  create(kind: ApiKind, object: unknown, options?: Call): Promise<V3Object>;
  /** The object must have the resourceVersion, uid and creationTimestamp it was read with. */
  update(kind: ApiKind, object: unknown, options?: Call): Promise<V3Object>;
  /** As update, but only the status is written. */
  updateStatus(kind: ApiKind, object: unknown, options?: Call): Promise<V3Object>;
  /**
   * Puts the object in the place of the stored one: all of its spec, labels and annotations, the rest of its metadata stays.
   * With a resourceVersion only in place of that very version.
   */
  replace(kind: ApiKind, object: unknown, options?: Call): Promise<V3Object>;
  /** Creates, or replaces what exists. */
  apply(kind: ApiKind, object: unknown, options?: Call): Promise<V3Object>;
  /** Reads, changes, checks and writes, again until nobody was faster. Undefined: there is no such object now. */
  edit(kind: ApiKind, id: ResourceId, change: ChangeV3, options?: Call): Promise<V3Object | undefined>;
  delete(kind: ApiKind, id: ResourceId, options?: DeleteOptions): Promise<void>;
};
