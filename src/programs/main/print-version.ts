// What this is, and what it can say to a client. Apart from the command (version.ts), because asking is common and the parser
// of command lines costs more than the answer.
import { syncerTypes } from "../../calico/model/basics.ts";
import { build } from "../shared/build.ts";

export function printVersion(format: "text" | "json"): void {
  const features = {
    syncers: syncerTypes,
    compression: ["snappy", "zstd"],
    policyKeys: ["modern", "legacy"],
    decoderRestart: true,
  };
  const { version, commit } = build();
  if (format === "json") {
    console.log(JSON.stringify({ version, commit, ...features }));
    return;
  }
  console.log(`Version:     ${version}`);
  console.log(`Git commit:  ${commit}`);
  console.log(`Node:        ${process.versions.node}`);
  console.log(`Syncers:     ${features.syncers.join(", ")}`);
  console.log(`Compression: ${features.compression.join(", ")} (or none)`);
  console.log(`Policy keys: ${features.policyKeys.join(", ")}`);
}
