// What flows from the syncers through the cache to the clients: one key/value at one revision, and the sync status.
// The numbers are the ones on the wire.

export const syncerTypes = ["felix", "bgp", "tunnel-ip-allocation", "node-status"] as const;
/** The four data sets that a server has; each connection follows one. */
export type SyncerType = (typeof syncerTypes)[number];

/** How far a server is with its data: no datastore yet, the snapshot is coming, everything has been said. */
export const syncStatus = { waitForDatastore: 0, resyncInProgress: 1, inSync: 2 } as const;
/** One of syncStatus. */
export type SyncStatus = (typeof syncStatus)[keyof typeof syncStatus];

export const updateType = { unknown: 0, new: 1, updated: 2, deleted: 3 } as const;
export type UpdateType = (typeof updateType)[keyof typeof updateType];

export type KvUpdate = {
  /** The key's default path in its modern form, e.g. /calico/v1/policy/GlobalNetworkPolicy//allow-dns. */
  readonly path: string;
  /** The serialised value (JSON or raw text). Undefined: deleted, or invalid (then `type` is not "deleted"). */
  readonly value: string | undefined;
  /** Opaque; "" for a deletion. */
  readonly revision: string;
  /** metadata.resourceVersion, which is blanked inside `value`; "" where the value is not an API object. */
  readonly v3ResourceVersion: string;
  readonly type: UpdateType;
};

/** One step of the merged stream: updates of one syncer, then, where it changed, its status. */
export type SyncerBatch = {
  readonly syncer: SyncerType;
  readonly updates: readonly KvUpdate[];
  readonly status?: SyncStatus;
};
