// `cattail node felix`: policies and routes, with the settings and the file of calico-felix.
import { existsSync } from "node:fs";
import { Command } from "commander";

export function felixCommand(): Command {
  return new Command("felix")
    .option(
      "-c, --config-file <file>",
      "settings file; the environment has priority over it (default: /etc/calico/felix.cfg)",
    )
    .option("--print-settings", "print each setting of environment and file, and where it comes from, then exit", false)
    .addHelpText(
      "after",
      `
Examples:
  FELIX_TYPHAADDR=typha.example:5473 FELIX_HEALTHENABLED=true cattail node felix`,
    )
    .action(async ({ configFile, printSettings }: { configFile?: string; printSettings: boolean }) => {
      if (printSettings) return await print(configFile);
      await (await import("./starting/start.ts")).startAgent("felix", configFile === undefined ? {} : { configFile });
    });
}

async function print(configFile: string | undefined): Promise<void> {
  const { formatNodeSettings, NodeLiveSettings, readLocalSources } = await import("../../node/settings/index.ts");
  const sources = readLocalSources({ environment: process.env, ...(configFile === undefined ? {} : { configFile }) });
  const warn = (_: string, { problem }: { problem?: unknown } = {}) => console.error(`cattail: ${problem}`);
  const log = { debug: () => undefined, info: () => undefined, warn, error: warn };
  console.log(formatNodeSettings(new NodeLiveSettings(sources, { checks: { exists: existsSync }, log })));
}
