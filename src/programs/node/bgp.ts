// `cattail node bgp`: BIRD's configuration alone, as confd keeps it.
import { Command } from "commander";
import type { AgentFlags } from "./starting/agents.ts";

export function bgpCommand(): Command {
  return new Command("bgp")
    .option("--run-once", "write the configuration once, and end", false)
    .option(
      "--confdir <folder>",
      "folder whose config/ is written, unless BIRD_CONFIG_DIR is set (default: /etc/calico/confd)",
    )
    .addHelpText(
      "after",
      `
Examples:
  NODENAME=node-1 BIRD_CONFIG_DIR=/etc/calico/confd/config cattail node bgp`,
    )
    .action(async (flags: AgentFlags) => await (await import("./starting/start.ts")).startAgent("bgp", flags));
}
