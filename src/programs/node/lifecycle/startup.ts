// `cattail node startup`: everything before the daemons, once.
import { Command } from "commander";
import { asKubernetes, completeStartup, runStartup } from "../../../node/startup/index.ts";
import { version } from "../../shared/build.ts";
import { openKubernetesBeside, openNodeDatastore, runToItsEnd, type Surroundings } from "./surroundings.ts";

export function startupCommand(): Command {
  return new Command("startup")
    .option("--complete-startup", "mark the node as having a network, at once, and do nothing else", false)
    .addHelpText(
      "after",
      "\nExamples:\n  cattail node startup\n  NODENAME=node-1 IP=autodetect KUBECONFIG=~/.kube/config cattail node startup",
    )
    .action(({ completeStartup: isComplete }: { completeStartup: boolean }) => runStartupProgram(isComplete));
}

export function runStartupProgram(isComplete: boolean): Promise<void> {
  return runToItsEnd("startup", async (around) => {
    if (isComplete) return await completeStartup({ ...around, kubernetes: () => openKubernetesBeside(around) });
    await startUp(around);
  });
}

async function startUp(around: Surroundings): Promise<void> {
  await using datastore = await openNodeDatastore(around);
  const isKubernetes = asKubernetes(datastore) !== undefined;
  await using beside = isKubernetes ? undefined : await openKubernetesBeside(around);
  if (!isKubernetes && beside === undefined)
    around.log.warn("Kubernetes configuration not detected; its part is skipped");
  await runStartup({ ...around, datastore, kubernetesBeside: beside, version: version() });
}
