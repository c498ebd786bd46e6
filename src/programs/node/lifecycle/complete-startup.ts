// `cattail node complete-startup`: waits for the daemons, marks the node as having a network, and ends.
import { Command } from "commander";
import { completeStartup, waitUntilReady } from "../../../node/startup/startup.ts";
import { daemonsAreReady } from "./services.ts";
import { openKubernetesBeside, runToItsEnd } from "./surroundings.ts";

export function completeStartupCommand(): Command {
  return new Command("complete-startup")
    .addHelpText("after", "\nExamples:\n  FELIX_HEALTHENABLED=true cattail node complete-startup")
    .action(() =>
      runToItsEnd("complete-startup", async (around) => {
        const { CALICO_NETWORKING_BACKEND: backend = "" } = around.environment;
        const runsBird = backend === "" || backend === "bird";
        await waitUntilReady(daemonsAreReady(around.environment, runsBird), around);
        await completeStartup({ ...around, kubernetes: () => openKubernetesBeside(around) });
      }),
    );
}
