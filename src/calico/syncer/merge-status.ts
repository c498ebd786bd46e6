// One status of a syncer from those of its kinds: in sync when all are, waiting when all are, else resyncing.
import { type SyncStatus, syncStatus } from "../model/index.ts";

export function mergeStatus(statuses: Iterable<SyncStatus>): SyncStatus {
  let isAllInSync = true;
  let isAllWaiting = true;
  for (const status of statuses) {
    if (status !== syncStatus.inSync) isAllInSync = false;
    if (status !== syncStatus.waitForDatastore) isAllWaiting = false;
  }
  if (isAllInSync) return syncStatus.inSync;
  return isAllWaiting ? syncStatus.waitForDatastore : syncStatus.resyncInProgress;
}
