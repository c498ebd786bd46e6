// `cattail node run`: start-up, then everything that a node runs, in one process.
import { Command } from "commander";
import type { AgentFlags } from "./starting/agents.ts";

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
    .action(async (flags: AgentFlags) => await (await import("./starting/start.ts")).startAgent("run", flags));
}
