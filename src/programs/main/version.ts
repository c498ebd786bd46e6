// `cattail version`, with its options.
import { Command, Option } from "commander";
import { printVersion } from "./print-version.ts";

export function versionCommand(): Command {
  return new Command("version")
    .addOption(new Option("-o, --output <format>", "output format").choices(["text", "json"]).default("text"))
    .addHelpText("after", "\nExamples:\n  cattail version\n  cattail version -o json")
    .action(({ output }: { output: "text" | "json" }) => printVersion(output));
}
