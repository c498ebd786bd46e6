// `cattail node startup`: everything before the daemons, once.
import { Command } from "commander";

export function startupCommand(): Command {
  return new Command("startup")
    .option("--complete-startup", "then mark the node as having a network, without waiting for the daemons", false)
    .addHelpText(
      "after",
      "\nExamples:\n  cattail node startup\n  NODENAME=node-1 IP=autodetect KUBECONFIG=~/.kube/config cattail node startup",
    )
    .action(
      async ({ completeStartup }: { completeStartup: boolean }) =>
        await (await import("../starting/start.ts")).startUp(completeStartup),
    );
}
