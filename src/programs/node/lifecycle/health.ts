// `cattail node health`: what a pod's probes run, and `calico health`, which asks any component that has a health server. Read without the library for
// command lines: a probe runs every ten seconds for as long as the node lives.
import { Command } from "commander";
import { healthUsage, runHealth } from "./run-health.ts";

/** For help and completion; a probe does not come this way (programs/main). */
export function healthCommand(): Command {
  const command = new Command("health").allowUnknownOption().allowExcessArguments().addHelpText("after", healthUsage);
  for (const [flags, says] of healthFlags) command.option(flags, says);
  return command.action(async (_options: unknown, { args, parent }: Command) => {
    const words = parent?.parent?.args.slice(1) ?? args;
    await runHealth(words.filter((word) => word !== "node" && word !== "health"));
  });
}

const healthFlags: readonly (readonly [string, string])[] = [
  ["--felix-live", "the agent lives"],
  ["--felix-ready", "the agent is ready"],
  ["--bird-live", "BIRD answers"],
  ["--bird6-live", "the BIRD of IPv6 answers"],
  ["--bird-ready", "BIRD's sessions are up"],
  ["--bird6-ready", "the sessions of IPv6 are up"],
  ["--threshold-time <duration>", "how long after start-up every session must be up (default: 30s)"],
  ["--strict", "every session must be up, always, and BIRD must write routes"],
  ["--grace <duration>", "with --strict, how long a session may be down (default: 10s)"],
  ["-o, --output <format>", "json: a report for machines, with every peer"],
  ["--port <port>", "ask one component's health server instead"],
  ["--host <host>", "with --port (default: localhost)"],
  ["--type <type>", "with --port: readiness or liveness (default: readiness)"],
  ["--timeout <duration>", "with --port (default: 5s)"],
];
