// What a follower of one kind says: objects and deletions in datastore order, and how far it is. The seam between the
// datastores, which list and watch, and the syncers, which convert.
import type { SyncStatus } from "../../model/index.ts";
import type { ObjectId, StoredObject } from "../datastore.ts";

/**
 * A follower has already done the bookkeeping of lists: an object whose revision has not changed is not said again, and
 * what a fresh list lacks is said as deletions before the status "in sync".
 */
export type FollowEvent =
  | { readonly is: "set"; readonly object: StoredObject; readonly origin: "list" | "watch" }
  | { readonly is: "delete"; readonly id: ObjectId }
  | { readonly is: "status"; readonly status: SyncStatus };
