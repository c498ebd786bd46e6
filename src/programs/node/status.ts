// `cattail node status`: what BIRD says of this node's sessions and routes, as tables or as JSON; and the part that answers CalicoNodeStatus objects,
// alone, for whoever runs the original's other programs beside it.
import { Command } from "commander";
import { plainText } from "../../base/lib/index.ts";
import { birdOptions, gatherStatus, nodeStatusPart, statusText } from "../../node/bird/index.ts";
import { fail } from "../shared/fail.ts";
import { nameOfStartup, runAgentProcess } from "./agent-process.ts";

export function statusCommand(): Command {
  const command = new Command("status").option("-o, --output <format>", "json: for machines").addHelpText(
    "after",
    `
Examples:
  cattail node status
  cattail node status show -o json
  NODENAME=node-1 cattail node status report`,
  );
  command.action(show);
  command
    .command("show")
    .description("BIRD's state, its sessions and its routes")
    .option("-o, --output <format>", "json: for machines")
    .addHelpText("after", "\nExamples:\n  cattail node status show -o json")
    .action(async (_options: unknown, asked: Command) => await show(asked.optsWithGlobals()));
  command
    .command("report")
    .description("answer the CalicoNodeStatus objects of this node until ended")
    .addHelpText("after", "\nExamples:\n  cattail node status report")
    .action(() =>
      runAgentProcess({
        component: "status-reporter",
        followsSettings: false,
        nameOf: nameOfStartup,
        parts: async ({ environment }) => ({
          parts: [nodeStatusPart({ sockets: socketsOf(environment) })],
          metrics: [],
        }),
      }),
    );
  return command;
}

function socketsOf(environment: NodeJS.ProcessEnv) {
  const { socket, socket6 } = birdOptions(environment, { supervises: false });
  return { 4: [socket, "/var/run/bird/bird.ctl"], 6: [socket6, "/var/run/bird/bird6.ctl"] };
}

/** Ends with 1 where no BIRD answers. */
async function show({ output }: { output?: string }): Promise<void> {
  try {
    const status = await gatherStatus(socketsOf(process.env), { routes: true });
    const json = () =>
      `${JSON.stringify(status, (_name, value: unknown) => (value instanceof Map ? Object.fromEntries(value) : value), 2)}\n`;
    process.stdout.write(output === "json" ? json() : plainText(statusText(status)));
    if (status[4].is === "absent" && status[6].is === "absent") process.exitCode = 1;
  } catch (error) {
    fail(error);
  }
}
