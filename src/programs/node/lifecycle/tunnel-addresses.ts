// `cattail node allocate-tunnel-addrs`: once, or for as long as the node lives.
import { Command } from "commander";
import {
  allocateTunnelAddresses,
  determineNodeName,
  readNodeSettings,
  tunnelAddressPart,
  usesPodCidr,
} from "../../../node/startup/index.ts";
import { openNodeDatastore, runToItsEnd, type Surroundings } from "./surroundings.ts";

export function tunnelAddressesCommand(): Command {
  return new Command("allocate-tunnel-addrs")
    .option("--run-once", "look once, then exit", false)
    .addHelpText("after", "\nExamples:\n  cattail node allocate-tunnel-addrs --run-once")
    .action(({ runOnce }: { runOnce: boolean }) => runTunnelProgram(runOnce));
}

async function runTunnelProgram(isOnce: boolean): Promise<void> {
  if (isOnce) return await runToItsEnd("tunnel-ip-allocator", allocateOnce);
  const { runServiceAlone } = await import("./services.ts");
  await runServiceAlone("tunnel-ip-allocator", (environment) => tunnelAddressPart({ environment }));
}

async function allocateOnce(around: Surroundings): Promise<void> {
  const { environment, clock, log, signal } = around;
  if (usesPodCidr(environment)) return log.info("Using host-local IPAM, no need to allocate a tunnel IP");
  const { values } = readNodeSettings(environment);
  const node = await determineNodeName(values, log);
  await using datastore = await openNodeDatastore(around);
  const { wireguardHostEncryption } = values;
  await allocateTunnelAddresses({ node, datastore, wireguardHostEncryption, clock, log, signal });
}
