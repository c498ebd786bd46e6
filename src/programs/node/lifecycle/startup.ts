// `cattail node startup`: everything before the daemons, once.
import { Command } from "commander";
import { asKubernetes, completeStartup, runStartup } from "../../../node/startup/startup.ts";
import { version } from "../../shared/build.ts";
import { openKubernetesBeside, openNodeDatastore, runToItsEnd, type Surroundings } from "./surroundings.ts";

export function startupCommand(): Command {
  return new Command("startup")
    .option("--complete-startup", "then mark the node as having a network, without waiting for the daemons", false)
    .addHelpText(
      "after",
      "\nExamples:\n  cattail node startup\n  NODENAME=node-1 IP=autodetect KUBECONFIG=~/.kube/config cattail node startup",
    )
    .action(({ completeStartup: isComplete }: { completeStartup: boolean }) => runStartupProgram(isComplete));
}

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
