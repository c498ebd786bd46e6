// `cattail version`: what this is, and what it can say to a client.
import { Command, Option } from "commander";
import { syncerTypes } from "../../calico/model/basics.ts";
import { build } from "../shared/build.ts";

export function versionCommand(): Command {
  return new Command("version")
    .addOption(new Option("-o, --output <format>", "how to print it").choices(["text", "json"]).default("text"))
    .addHelpText("after", "\nExamples:\n  cattail version\n  cattail version -o json")
    .action((options: { output: string }) => {
      const features = {
        syncers: syncerTypes,
        compression: ["snappy", "zstd"],
        policyKeys: ["modern", "legacy"],
        decoderRestart: true,
      };
      if (options.output === "json") console.log(JSON.stringify({ ...build(), ...features }));
      else {
        console.log(`Version:     ${build().version}`);
        console.log(`Git commit:  ${build().commit}`);
        console.log(`Node:        ${process.versions.node}`);
        console.log(`Syncers:     ${features.syncers.join(", ")}`);
        console.log(`Compression: ${features.compression.join(", ")} (or none)`);
        console.log(`Policy keys: ${features.policyKeys.join(", ")}`);
      }
    });
}
