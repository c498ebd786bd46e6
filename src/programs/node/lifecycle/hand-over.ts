// `cattail node hand-over`: the node goes back to Calico's own agent, with no moment in which nothing is enforced.
import { Command } from "commander";
import { silentLog } from "../../../base/lib/index.ts";
import { handOver } from "../../../node/dataplane/index.ts";
import { lockAgainstAgents } from "../agent-lock.ts";

export function handOverCommand(): Command {
  return new Command("hand-over")
    .addHelpText(
      "after",
      `
Stop cattail node on this host, start calico/node, wait until it is ready, then run this. Our packet rules go; routes, interfaces and
addresses stay, because both agents keep them in the same way. It refuses while no rules of Calico's agent are there.

Examples:
  cattail node hand-over`,
    )
    .action(async () => {
      using _alone = lockAgainstAgents(process.env, silentLog);
      console.log(`our packet rules are gone; policy is now enforced by ${await handOver()}`);
    });
}
