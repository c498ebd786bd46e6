// `cattail node felix`: policies and routes, with the settings and the file of calico-felix.
import { Command } from "commander";
import { runAgentProcess } from "./agent-process.ts";
import { felixParts } from "./parts.ts";

export function felixCommand(): Command {
  return new Command("felix")
    .option(
      "-c, --config-file <file>",
      "settings file; the environment has priority over it (default: /etc/calico/felix.cfg)",
    )
    .addHelpText(
      "after",
      `
Examples:
  FELIX_TYPHAADDR=typha.example:5473 FELIX_HEALTHENABLED=true cattail node felix`,
    )
    .action(({ configFile }: { configFile?: string }) =>
      runAgentProcess({ component: "felix", configFile, followsSettings: true, parts: felixParts }),
    );
}
