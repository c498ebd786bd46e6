// `cattail node node-services` and `monitor-token`: what calico/node runs beside Felix and confd, for whoever keeps its division into processes.
import { Command } from "commander";
import { nameOfStartup, runAgentProcess } from "./agent-process.ts";
import { besideParts, tokenParts } from "./parts.ts";

export function nodeServicesCommand(): Command {
  return new Command("node-services")
    .addHelpText("after", "\nExamples:\n  NODENAME=node-1 cattail node node-services")
    .action(() => runBeside("node-services", besideParts));
}

export function monitorTokenCommand(): Command {
  return new Command("monitor-token")
    .addHelpText("after", "\nExamples:\n  cattail node monitor-token")
    .action(() => runBeside("monitor-token", tokenParts));
}

/** The ports of probes and metrics are those of the process beside which it runs. */
async function runBeside(component: string, parts: Parameters<typeof runAgentProcess>[0]["parts"]): Promise<void> {
  process.env.FELIX_HEALTHENABLED = "false";
  process.env.FELIX_PROMETHEUSMETRICSENABLED = "false";
  await runAgentProcess({ component, followsSettings: false, nameOf: nameOfStartup, parts });
}
