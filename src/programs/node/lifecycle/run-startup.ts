// The work of `cattail node startup`. Apart from its Command: programs/main starts it without the library for command lines where it has no flags.
import type { Datastore } from "../../../calico/datastore/index.ts";
import { asKubernetes, completeStartup, readNodeSettings, runStartup } from "../../../node/startup/startup.ts";
import { version } from "../../shared/build.ts";
import {
  openKubernetesBeside,
  openKubernetesIfUsable,
  openNodeDatastore,
  runToItsEnd,
  type Surroundings,
} from "./surroundings.ts";

export function runStartupProgram(isComplete: boolean): Promise<void> {
  return runToItsEnd("startup", async (around) => {
    await startUp(around);
    if (isComplete) await completeStartup({ ...around, kubernetes: () => openKubernetesBeside(around) });
  });
}

/** The node's name. */
async function startUp(around: Surroundings): Promise<string> {
  await using datastore = await openNodeDatastore(around);
  return await startUpOn(datastore, around);
}

/**
 * What `node run` does before its parts: start-up, then tunnel addresses, so that the node is whole from the first moment on. What fails of the
 * latter is tried again by the part that follows them.
 */
export async function startUpForParts(around: Surroundings): Promise<string> {
  await using datastore = await openNodeDatastore(around);
  const node = await startUpOn(datastore, around);
  const { environment, clock, log, signal } = around;
  const { allocateTunnelAddresses, usesPodCidr } = await import("../../../node/startup/index.ts");
  if (usesPodCidr(environment)) return node;
  const { wireguardHostEncryption } = readNodeSettings(environment).values;
  try {
    await allocateTunnelAddresses({ node, datastore, wireguardHostEncryption, clock, log, signal });
  } catch (error) {
    signal.throwIfAborted();
    log.warn("Tunnel addresses are not there yet; tried again when the agent runs", { error });
  }
  return node;
}

async function startUpOn(datastore: Datastore, around: Surroundings): Promise<string> {
  const isKubernetes = asKubernetes(datastore) !== undefined;
  await using beside = isKubernetes ? undefined : await openKubernetesIfUsable(around);
  if (!isKubernetes && beside === undefined)
    around.log.warn("Kubernetes configuration not detected; its part is skipped");
  return await runStartup({ ...around, datastore, kubernetesBeside: beside, version: version() });
}
