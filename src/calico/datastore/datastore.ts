// The one interface in front of every datastore: list in pages, watch from a revision, and write with compare-and-swap.
// Implementations: kubernetes/, etcd/, directory/, memory/. Followers (follow.ts) turn list + watch into a stream that
// survives faults; syncers read only that.
import type { Flavour, Kind } from "../model/index.ts";

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
};

export type ListPage = {
  readonly items: readonly StoredObject[];
  /** Deleted while the list was under way, after the items: what this page or an earlier one said of them is over. */
  readonly gone?: readonly ObjectId[];
  /** The revision of the whole list, where a watch goes on. A streamed list knows it only on its last page: "" before. */
  readonly revision: Revision;
};

export type WatchEvent =
  | { readonly is: "set"; readonly object: StoredObject }
  | { readonly is: "delete"; readonly id: ObjectId; readonly revision: Revision }
  | { readonly is: "bookmark"; readonly revision: Revision };

/** Something wrong with a file that objects are read from. */
export type ManifestProblem = {
  /** Relative to the folder; "" for the folder itself. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly says: string;
  /** The file's last good content is still in use. */
  readonly keepsLastGood: boolean;
};

export type Datastore = AsyncDisposable & {
  /** Which set of conversions its objects need. A directory or memory datastore holds kubernetes objects. */
  readonly flavour: Flavour;
  list(kind: Kind, options: { signal: AbortSignal; notOlderThan?: Revision }): AsyncIterable<ListPage>;
  /**
   * In order, those that came together in one list, never an empty one: a busy stream is then handed on in few steps. Ends
   * normally when the server ends the stream; throws DatastoreError for everything else.
   */
  watch(kind: Kind, options: { from: Revision; signal: AbortSignal }): AsyncIterable<readonly WatchEvent[]>;
  get(kind: Kind, id: ObjectId, options?: { signal?: AbortSignal }): Promise<StoredObject | undefined>;
  /** The id is for kinds whose stored value does not name itself: etcd's block affinities. Elsewhere the value says it. */
  create(kind: Kind, value: unknown, options?: { id?: ObjectId; signal?: AbortSignal }): Promise<StoredObject>;
  /** Fails with "conflict" unless the stored object still has this revision. */
  update(kind: Kind, object: StoredObject, options?: { signal?: AbortSignal }): Promise<StoredObject>;
  delete(kind: Kind, id: ObjectId, options?: { revision?: Revision; signal?: AbortSignal }): Promise<void>;
  /** What is wrong with its files now; of a datastore that is made of files only. */
  problems?(): readonly ManifestProblem[];
};
