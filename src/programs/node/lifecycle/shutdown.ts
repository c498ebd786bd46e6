// `cattail node shutdown`: a pod's preStop hook.
import { Command } from "commander";
import { forgetNode, shutDown } from "../../../node/startup/startup.ts";
import { openKubernetesIfUsable, runToItsEnd, type Surroundings } from "./surroundings.ts";

export function shutdownCommand(): Command {
  return new Command("shutdown")
    .option(
      "--clean",
      "also take away what the agent put into the kernel, and the name file; pods lose their network",
      false,
    )
    .addHelpText("after", "\nExamples:\n  cattail node shutdown\n  cattail node shutdown --clean")
    .action(({ clean }: { clean: boolean }) => runShutdownProgram(clean));
}

function runShutdownProgram(isClean: boolean): Promise<void> {
  return runToItsEnd("shutdown", async (around) => {
    // An agent that runs would put back what is taken away: nothing is done beside one, and none starts meanwhile.
    using _alone = isClean ? await alone(around) : undefined;
    await shutDown({ ...around, kubernetes: () => openKubernetesIfUsable(around) });
    if (!isClean) return;
    const { removeTraces } = await import("./clean.ts");
    const isWhole = await removeTraces(around);
    await forgetNode(around);
    if (!isWhole) throw new Error("some of it is still there: see above, and run the same again");
  });
}

async function alone({ environment, log }: Surroundings): Promise<Disposable> {
  const { lockAgainstAgents } = await import("../agent-lock.ts");
  return lockAgainstAgents(environment, log);
}
