// The commands that a node starts with, without the library for command lines where they have no flags: pods wait for them. All others, and
// whoever asks for help, go by way of command.ts.

import { fail } from "../../shared/fail.ts";
import { failOnUnwritableOutput } from "../../shared/unwritable-output.ts";
import type { AgentFlags, AgentName } from "./agents.ts";

type Start = () => Promise<void>;

const plain: { readonly [command: string]: Start } = {
  run: () => startAgent("run", {}),
  felix: () => startAgent("felix", {}),
  bgp: () => startAgent("bgp", {}),
  startup: () => startUp(false),
};

/** `words`: those after `node`. False: it is not one of these, or has flags that the library has to read. */
export async function startNode([command = "", ...rest]: readonly string[]): Promise<boolean> {
  const start = rest.length === 0 && Object.hasOwn(plain, command) ? plain[command] : undefined;
  if (start === undefined) return false;
  failOnUnwritableOutput(1);
  try {
    await start();
  } catch (error) {
    fail(error);
  }
  return true;
}

/** The agent, for whoever has read its flags. Here, so that the package has all of it in one place. */
export async function startAgent(name: AgentName, flags: AgentFlags): Promise<void> {
  await (await import("./agents.ts")).runAgentCommand(name, flags);
}

/** As above. */
export async function startUp(isComplete: boolean): Promise<void> {
  await (await import("../lifecycle/run-startup.ts")).runStartupProgram(isComplete);
}
