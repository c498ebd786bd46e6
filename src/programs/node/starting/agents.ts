// The agent's three commands: what runs in each, and under which name. Apart from their Commands, which read flags: starting/start.ts starts them without.
import { join } from "node:path";
import { CattailError, messageOf, systemClock } from "../../../base/lib/index.ts";
import type { Part } from "../../../node/part/index.ts";
import { type AgentProcess, type Around, type Asked, nameOfStartup, runAgentProcess } from "../agent-process.ts";
import { allParts, bgpParts, felixParts, halvesOf } from "../parts.ts";
import { backendSaid } from "./backend.ts";
import { screenSeverity } from "./confd-severity.ts";

export type AgentFlags = {
  readonly configFile?: string;
  /** Of `run`; absent: with start-up. */
  readonly startup?: boolean;
  /** Of `bgp`. */
  readonly runOnce?: boolean;
  readonly confdir?: string;
};

export type AgentName = "run" | "felix" | "bgp";

export async function runAgentCommand(name: AgentName, flags: AgentFlags): Promise<void> {
  await runAgentProcess(agents[name](flags));
}

const agents: { readonly [name in AgentName]: (flags: AgentFlags) => AgentProcess } = {
  run({ configFile, startup = true }) {
    const backend = backendSaid(process.env);
    if (backend !== undefined) process.env.CALICO_NETWORKING_BACKEND = backend; // for start-up and all parts
    const nameOf = startup ? startUpNamed : nameOfStartup;
    return { component: "node", configFile, followsSettings: true, nameOf, parts: allParts, halves: halvesOf };
  },
  felix: ({ configFile }) => ({
    component: "felix",
    configFile,
    followsSettings: true,
    parts: felixParts,
    halves: () => ["felix"],
  }),
  bgp({ runOnce = false, confdir }) {
    if (confdir !== undefined) process.env.BIRD_CONFIG_DIR ||= join(confdir, "config");
    const severity = screenSeverity(process.env);
    if (severity !== undefined) process.env.FELIX_LOGSEVERITYSCREEN = severity;
    const parts = async (around: Around) =>
      runOnce ? endingOnce(await bgpParts(around), around) : await bgpParts(around);
    // Once beside an agent that runs is harmless: it writes what that one has written.
    return { component: "confd", followsSettings: false, parts, halves: () => (runOnce ? [] : ["bgp"]) };
  },
};

async function startUpNamed({ environment, log, signal }: Omit<Around, "node">): Promise<string> {
  const { startUpForParts } = await import("../lifecycle/run-startup.ts");
  const say = (text: string) => void process.stderr.write(`${text}\n`);
  try {
    return await startUpForParts({ environment, log, clock: systemClock, signal, say });
  } catch (error) {
    if (signal.aborted) throw error;
    const { sayFailure } = await import("../lifecycle/surroundings.ts");
    sayFailure(error, log);
    throw new CattailError("NODE_STARTUP_FAILED", {
      problem: `start-up failed: ${messageOf(error)}`,
      next: "The log has the step that failed, and what to do about it",
      cause: error,
    });
  }
}

/** The part counts each configuration that it has put in place: after the first one it is done. */
function endingOnce({ parts, ...rest }: Asked, { stop }: Around): Asked {
  const once = (part: Part): Part => ({
    ...part,
    run: (world, signal) => {
      const observe: typeof world.metrics.observe = (name, ...observed) => {
        world.metrics.observe(name, ...observed);
        if (name === "cattail_bird_render_seconds") stop();
      };
      return part.run({ ...world, metrics: { ...world.metrics, observe } }, signal);
    },
  });
  return { ...rest, parts: parts.map(once) };
}
