// `cattail node bgp`: BIRD's configuration alone, as confd keeps it.
import { Command } from "commander";
import { runAgentProcess } from "./agent-process.ts";
import { bgpParts } from "./parts.ts";

export function bgpCommand(): Command {
  return new Command("bgp")
    .addHelpText(
      "after",
      `
Examples:
  NODENAME=node-1 BIRD_CONFIG_DIR=/etc/calico/confd/config cattail node bgp`,
    )
    .action(() => runAgentProcess({ component: "confd", followsSettings: false, parts: bgpParts }));
}
