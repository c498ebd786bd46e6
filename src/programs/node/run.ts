// `cattail node run`: start-up, then everything that a node runs, in one process.
import { Command } from "commander";
import { CattailError, messageOf, systemClock } from "../../base/lib/index.ts";
import { type Around, nodeName, runAgentProcess } from "./agent-process.ts";
import { allParts } from "./parts.ts";

export function runCommand(): Command {
  return new Command("run")
    .option(
      "-c, --config-file <file>",
      "settings file; the environment has priority over it (default: /etc/calico/felix.cfg)",
    )
    .option("--no-startup", "leave out start-up: the node is registered already")
    .addHelpText(
      "after",
      `
Examples:
  NODENAME=node-1 KUBECONFIG=~/.kube/config FELIX_HEALTHENABLED=true cattail node run
  NODENAME=node-1 DATASTORE_TYPE=directory DATASTORE_DIRECTORY=/srv/calico CALICO_NETWORKING_BACKEND=vxlan cattail node run`,
    )
    .action(({ configFile, startup }: { configFile?: string; startup: boolean }) =>
      runAgentProcess({
        component: "node",
        configFile,
        followsSettings: true,
        nameOf: startup ? startUpNamed : async ({ settings, environment }) => nodeName(settings, environment),
        parts: allParts,
      }),
    );
}

async function startUpNamed({ environment, log, signal }: Omit<Around, "node">): Promise<string> {
  const { startUp } = await import("./lifecycle/run-startup.ts");
  const say = (text: string) => void process.stderr.write(`${text}\n`);
  try {
    return await startUp({ environment, log, clock: systemClock, signal, say });
  } catch (error) {
    if (signal.aborted) throw error;
    const { sayFailure } = await import("./lifecycle/surroundings.ts");
    sayFailure(error, log);
    throw new CattailError("NODE_STARTUP_FAILED", {
      problem: `start-up failed: ${messageOf(error)}`,
      next: "The log has the step that failed, and what to do about it",
      cause: error,
    });
  }
}
