// ctl datastore migrate lock: nothing changes from now on, so that what is exported is everything.
import { silentLog, systemClock } from "../../../base/lib/index.ts";
import type { Datastore } from "../../../calico/datastore/index.ts";
import { initialiseDatastore } from "../../../calico/resources/index.ts";
import type { Run } from "../command.ts";
import { failed, setReady } from "./readiness.ts";

export const run: Run = async (invocation, console) => {
  const { datastore, resources } = await invocation.connect();
  const { signal } = console;
  await initialise(datastore, signal);
  await setReady(resources, false, { signal, purpose: "locking" });
  console.out("Datastore locked.\n");
  return 0;
};

export async function initialise(datastore: Datastore, signal: AbortSignal): Promise<void> {
  const newClusterGuid = () => crypto.randomUUID().replaceAll("-", "");
  try {
    await initialiseDatastore(datastore, { clock: systemClock, log: silentLog, signal, newClusterGuid });
  } catch (error) {
    throw failed("unable to initialize cluster information for the datastore migration", error);
  }
}
