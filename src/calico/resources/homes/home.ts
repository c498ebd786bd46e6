// Where a datastore keeps the objects of a v3 kind, and how it is asked for them. Most kinds are objects of their own
// (object-home.ts); in Kubernetes some are views of its own objects (node-home.ts, pod-home.ts, profile-home.ts).
// Homes know forms and nothing of rules; open-resources.ts applies those.
import type { Revision, Within } from "../../datastore/index.ts";
import type { Id } from "../names.ts";
import type { V3Object } from "../v3-object.ts";

export type Call = { readonly signal?: AbortSignal | undefined };

/** Stored under the kind, and not readable as one of its objects: reported beside the good ones, never instead of them. */
export type Unreadable = { readonly id: Id; readonly problem: string };

export type Listed = {
  readonly items: readonly V3Object[];
  readonly unreadable: readonly Unreadable[];
  /** Where a watch goes on. */
  readonly revision: string;
};

export type ListCall = Call & { readonly within?: Within };

export type ResourceEvent =
  | { readonly is: "set"; readonly object: V3Object }
  | { readonly is: "unreadable"; readonly id: Id; readonly problem: string }
  | { readonly is: "delete"; readonly id: Id }
  | { readonly is: "bookmark"; readonly revision: string };

export type WatchCall = { readonly from: string; readonly signal: AbortSignal; readonly within?: Within };

export type NewState = "nothing" | "delete" | V3Object;

/** What an object shall become. Asked once for each attempt, so it decides by what it is given. Throwing ends the edit. */
export type ChangeV3 = (current: V3Object | undefined) => NewState | Promise<NewState>;

export type DeleteCall = Call & { readonly revision?: string; readonly uid?: string };

/** Every method throws ResourceError; find and list included, for what the datastore says. */
export type Home = {
  /** Throws "not-found" and "unreadable". */
  get(id: Id, call: Call): Promise<V3Object>;
  list(call: ListCall): Promise<Listed>;
  watch(call: WatchCall): AsyncIterable<readonly ResourceEvent[]>;
  create(object: V3Object, call: Call): Promise<V3Object>;
  /** At the object's resourceVersion. */
  update(object: V3Object, call: Call): Promise<V3Object>;
  /** Only the status is written. */
  updateStatus(object: V3Object, call: Call): Promise<V3Object>;
  /** Reads, changes and writes until the write meets what was read; answers what is stored then. */
  edit(id: Id, change: ChangeV3, call: Call): Promise<V3Object | undefined>;
  delete(id: Id, call: DeleteCall): Promise<void>;
};

/** A v3 resourceVersion handed back to the datastore that it came from. */
export function asRevision(resourceVersion: string): Revision {
  return resourceVersion as Revision; // the brand was taken off when the object was made
}
