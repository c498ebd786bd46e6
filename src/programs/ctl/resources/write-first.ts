// What create, apply and replace write before the objects: ClusterInformation and the tiers that every datastore must have.
import { silentLog, systemClock } from "../../../base/lib/index.ts";
import { type Datastore, isDatastoreError } from "../../../calico/datastore/index.ts";
import { initialiseDatastore, isResourceError } from "../../../calico/resources/index.ts";

/** As in the original, nobody is told when that fails: the objects themselves will. */
export async function writeFirst(datastore: Datastore, signal: AbortSignal): Promise<void> {
  const newClusterGuid = () => crypto.randomUUID().replaceAll("-", "");
  try {
    await initialiseDatastore(datastore, { clock: systemClock, log: silentLog, signal, newClusterGuid });
  } catch (error) {
    if (!isDatastoreError(error) && !isResourceError(error) && !signal.aborted) throw error;
  }
}
