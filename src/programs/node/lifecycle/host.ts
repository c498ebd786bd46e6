// `cattail node monitor-addresses`, `hostpath-init` and `init`: small commands of the original's image.
import { Command } from "commander";
import { systemClock } from "../../../base/lib/index.ts";
import { addressMonitorPart, initialiseHostPaths, readNodeSettings } from "../../../node/startup/index.ts";
import { runServiceAlone } from "./services.ts";
import { runToItsEnd, sharedKubernetesBeside } from "./surroundings.ts";

export function monitorAddressesCommand(): Command {
  return new Command("monitor-addresses")
    .addHelpText("after", "\nExamples:\n  AUTODETECT_POLL_INTERVAL=30s cattail node monitor-addresses")
    .action(() =>
      runServiceAlone("monitor-addresses", (environment, log) => {
        const kubernetesBeside = sharedKubernetesBeside({ environment, clock: systemClock, log });
        return addressMonitorPart({ environment, kubernetesBeside });
      }),
    );
}

export function hostPathInitCommand(): Command {
  return new Command("hostpath-init")
    .addHelpText("after", "\nExamples:\n  NODE_USER_ID=1000 cattail node hostpath-init")
    .action(() =>
      runToItsEnd("hostpath-init", async ({ environment, log }) => {
        const { nodeUserId } = readNodeSettings(environment).values;
        await initialiseHostPaths(nodeUserId);
        log.info("Folders of calico-node are there", { owner: nodeUserId });
      }),
    );
}

/** The original mounts file systems for eBPF, which nothing here uses. */
export function initCommand(): Command {
  return new Command("init")
    .option("--best-effort", "taken, and not needed", false)
    .addHelpText("after", "\nExamples:\n  cattail node init --best-effort")
    .action(() =>
      runToItsEnd("init", async ({ log }) => log.info("There is no eBPF dataplane: nothing has to be mounted")),
    );
}
