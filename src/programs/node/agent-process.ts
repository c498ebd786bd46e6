// The agent as a process: settings, log, metrics and signals around what node/agent runs. `run`, `felix` and `bgp` differ in their parts.
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { CattailError, type Log, systemClock } from "../../base/lib/index.ts";
import { createMetrics, type LabelValues, type Metrics, type MetricTable } from "../../base/observe/index.ts";
import { agentMetrics, type ReportSources, runAgent } from "../../node/agent/index.ts";
import type { Part } from "../../node/part/index.ts";
import { felixSettings, NodeLiveSettings, readLocalSources, type TypedSettings } from "../../node/settings/index.ts";
import { build } from "../shared/build.ts";
import { fail } from "../shared/fail.ts";
import { endOnSurprise, serverExitCodes } from "../shared/server-ends.ts";
import { isEnding, ServerSignals } from "../shared/server-signals.ts";
import { type LockedHalf, lockHalves } from "./agent-lock.ts";
import { EarlyLog, openAgentLogs } from "./agent-log.ts";

export type AgentProcess = {
  /** As the log names it. */
  readonly component: string;
  readonly configFile?: string | undefined;
  /** Whether somebody reads the felix data set, which has the cluster's settings. */
  readonly followsSettings: boolean;
  /** Who this node is, where that is not simply said; what is to be done before the parts run is done here. Its error ends the process. */
  readonly nameOf?: (around: Omit<Around, "node">) => Promise<string>;
  readonly parts: (around: Around) => Promise<Asked>;
  /** Which halves of a node's agent it is, of which one each runs on a node; undefined: neither. */
  readonly halves?: (environment: NodeJS.ProcessEnv) => readonly LockedHalf[];
};

/** Parts, the rows of what they count, and the values of these rows' labels. */
export type Asked = {
  readonly parts: readonly Part[];
  readonly metrics: readonly MetricTable[];
  readonly labels?: LabelValues;
  /** What the parts can tell a Typha that asks. */
  readonly reports?: ReportSources;
};

export type Around = {
  readonly node: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly settings: TypedSettings;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Ends the agent, and the process in good order. */
  readonly stop: () => void;
};

export async function runAgentProcess(asked: AgentProcess): Promise<void> {
  const signals = new ServerSignals();
  const environment = process.env;
  const early = new EarlyLog();
  const settings = new NodeLiveSettings(readLocalSources(sourcesOf(asked)), {
    checks: { exists: existsSync },
    log: early,
  });
  const typed = felixSettings(settings);
  let metrics: Metrics | undefined;
  const logs = await openAgentLogs(asked.component, typed, {
    dropped: (lines) => metrics?.add("felix_logs_dropped", undefined, lines),
    failed: () => metrics?.add("felix_log_errors", undefined, 1),
  });
  const log = logs.logger(asked.component);
  early.replay(log);
  endOnSurprise(log, logs);
  log.info("Starting up", { ...build(), node: process.versions.node });
  const stop = new AbortController();
  signals.answer((signal) => {
    if (!isEnding(signal) || stop.signal.aborted) return;
    log.info("Stopping; what is in force stays in force", { signal });
    stop.abort();
  });
  try {
    const { signal } = stop;
    using _alone = await lockHalves(asked.halves?.(environment) ?? [], {
      environment,
      clock: systemClock,
      log,
      signal,
    });
    const nameless = { environment, settings: typed, log, signal: stop.signal, stop: () => stop.abort() };
    const node = (await asked.nameOf?.(nameless)) ?? nodeName(typed, environment);
    const around = { ...nameless, node };
    const { parts, metrics: rows, labels, reports = {} } = await asked.parts(around);
    metrics = createMetrics({
      table: Object.assign({ ...agentMetrics }, ...rows) as MetricTable, // rows of several tables, each of which is one
      labels: { ...labels, host: [node], part: parts.map(({ name }) => name), ip_version: ["4", "6"] },
      clock: systemClock,
      includesProcess: () => typed.value("PrometheusProcessMetricsEnabled"),
      includesRuntime: () => typed.value("PrometheusGoMetricsEnabled"),
    });
    const { version } = build();
    const edge = { clock: systemClock, random: Math.random, logOf: (name: string) => logs.logger(name) };
    const { followsSettings } = asked;
    if (!stop.signal.aborted)
      await runAgent(
        { node, parts, environment, settings, metrics, version, followsSettings, reports, ...edge },
        stop.signal,
      );
    log.info("Stopped");
    process.exitCode = serverExitCodes.done;
  } catch (error) {
    if (!stop.signal.aborted) fail(error);
    process.exitCode = stop.signal.aborted ? serverExitCodes.done : serverExitCodes.failed;
  } finally {
    await logs[Symbol.asyncDispose]();
    process.exit(process.exitCode ?? serverExitCodes.done);
  }
}

function sourcesOf({ configFile }: AgentProcess) {
  return { environment: process.env, ...(configFile === undefined ? {} : { configFile }) };
}

function nodeName(settings: TypedSettings, environment: NodeJS.ProcessEnv): string {
  const given = settings.value("FelixHostname") || environment.NODENAME?.trim() || "";
  return checkedName(given || (environment.HOSTNAME?.trim() || hostname()).toLowerCase());
}

/** As start-up has named the node, which is in the name file: for what runs beside Felix and confd, and after start-up. */
export async function nameOfStartup({ settings, environment, log }: Omit<Around, "node">): Promise<string> {
  const given = settings.value("FelixHostname");
  if (given !== "") return checkedName(given);
  const { determineNodeName, readNodeSettings } = await import("../../node/startup/startup.ts");
  return checkedName(await determineNodeName(readNodeSettings(environment).values, log));
}

function checkedName(found: string): string {
  if (/^[a-zA-Z0-9_.-]+$/.test(found)) return found;
  throw new CattailError("NODE_NAME", {
    problem: `${JSON.stringify(found)} is no name of a node`,
    next: "Set NODENAME to the name of this node's Node object",
  });
}
