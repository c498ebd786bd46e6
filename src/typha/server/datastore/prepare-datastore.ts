// Sees to it that the datastore holds what every cluster needs, beside the syncers and not before them: a datastore that
// is not there yet keeps the server from being ready, not from answering its probes. That it does not answer is said by
// datastore-contact.ts; what else keeps it from being prepared is said here, once.

import { type Clock, deadline, type Log, messageOf } from "../../../base/lib/index.ts";
import { type Datastore, isDatastoreError } from "../../../calico/datastore/index.ts";
import { initialiseDatastore } from "../../../calico/resources/index.ts";
import type { Settings } from "../../settings/index.ts";

const retryMs = 1000;
const attemptMs = 30_000;

export async function prepareDatastore(
  datastore: Datastore,
  { datastoreType }: Pick<Settings, "datastoreType">,
  { log, clock, signal }: { log: Log; clock: Clock; signal: AbortSignal },
): Promise<void> {
  if (datastoreType === "memory") return; // whoever brings objects in memory brings these, too
  const newClusterGuid = () => crypto.randomUUID().replaceAll("-", "");
  const clusterTypes = ["typha"];
  let lastProblem: string | undefined;
  while (!signal.aborted) {
    using attempt = deadline(signal, attemptMs, clock);
    try {
      await initialiseDatastore(datastore, { clock, log, signal: attempt.signal, newClusterGuid, clusterTypes });
      log.info("Datastore initialized.");
      return;
    } catch (error) {
      const problem = messageOf(error);
      const isSilent = attempt.isOver || isDatastoreError(error, "unavailable");
      if (!isSilent && problem !== lastProblem && !signal.aborted)
        log.error("The datastore cannot be initialized; trying again", { datastore: datastoreType, problem });
      lastProblem = problem;
      await clock.sleep(retryMs, signal).catch(() => undefined); // aborted: the loop ends
    }
  }
}
