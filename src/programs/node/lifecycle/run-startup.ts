// The work of `cattail node startup`. Apart from its Command: programs/main starts it without the library for command lines where it has no flags.
import { asKubernetes, completeStartup, runStartup } from "../../../node/startup/startup.ts";
import { version } from "../../shared/build.ts";
import { openKubernetesBeside, openNodeDatastore, runToItsEnd, type Surroundings } from "./surroundings.ts";

export function runStartupProgram(isComplete: boolean): Promise<void> {
  return runToItsEnd("startup", async (around) => {
    await startUp(around);
    if (isComplete) await completeStartup({ ...around, kubernetes: () => openKubernetesBeside(around) });
  });
}

/** The node's name. Also what `node run` does before its parts. */
export async function startUp(around: Surroundings): Promise<string> {
  await using datastore = await openNodeDatastore(around);
  const isKubernetes = asKubernetes(datastore) !== undefined;
  await using beside = isKubernetes ? undefined : await openKubernetesBeside(around);
  if (!isKubernetes && beside === undefined)
    around.log.warn("Kubernetes configuration not detected; its part is skipped");
  return await runStartup({ ...around, datastore, kubernetesBeside: beside, version: version() });
}
