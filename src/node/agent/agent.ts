// Plugs the agent of a node together: settings, the cluster's state, health and metrics around the parts that are to run.
//
//                 ┌─ environment, file ─┐
//   Typha or      │                     ▼
//   datastore ─▶ Feed ─▶ settings of the datastore ─▶ NodeLiveSettings ─▶ parts, pages, log
//                 └────▶ parts: each supervised, each with a component of its own in health
import { type Clock, type Log, messageOf, settleWithin } from "../../base/lib/index.ts";
import { createHealth, type Metrics } from "../../base/observe/index.ts";
import type { Datastore } from "../../calico/datastore/index.ts";
import type { DataSet, FeedState, Part } from "../part/index.ts";
import { DatastoreSource, felixSettings, type NodeLiveSettings, nodeDatastoreOptions } from "../settings/index.ts";
import { datastoreSource } from "./feed/datastore-source.ts";
import { type FeedSource, openFeed } from "./feed/feed.ts";
import { holdWhileNotReady } from "./feed/hold-while-not-ready.ts";
import { typhaOptions } from "./feed/typha-options.ts";
import { typhaSource } from "./feed/typha-source.ts";
import { servePages } from "./pages.ts";
import { PartHealth } from "./part-health.ts";
import type { ReportSources } from "./report.ts";
import { supervise } from "./supervise.ts";

export type AgentOptions = {
  readonly node: string;
  readonly parts: readonly Part[];
  readonly environment: { readonly [name: string]: string | undefined };
  readonly settings: NodeLiveSettings;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: () => number;
  /** By the name of who logs. */
  readonly logOf: (name: string) => Log;
  readonly version: string;
  /** What the parts can tell a Typha that asks (report.ts). */
  readonly reports?: ReportSources;
  /** False: nobody here reads the felix data set, so its settings are those of environment and file. */
  readonly followsSettings: boolean;
};

/** What the parts have to end; who takes longer is left, as a killed one would be. */
const stopLimitMs = 10_000;

/** Works until the signal; the kernel's state stays as it is. */
export async function runAgent(options: AgentOptions, signal: AbortSignal): Promise<void> {
  const { node, settings, metrics, clock, random, logOf } = options;
  const log = logOf("agent");
  const typed = felixSettings(settings);
  const health = createHealth({ clock, log: logOf("health") });
  const partHealth = new PartHealth({
    health,
    clock,
    isStrict: () => typed.value("ReadinessRule") === "Strict",
    timeoutOf: (component) => typed.value("HealthTimeoutOverrides").get(component),
  });
  const startup = partHealth.ofAgent("FelixStartup");
  startup.report({ live: true, ready: false, detail: "waiting for the cluster's settings" });
  metrics.set("felix_host", node, 1);

  const { datastore, close } = sharedDatastore(options);
  const watchers = new Map<DataSet, (state: FeedState) => void>();
  let wasCurrent = false;
  const feed = openFeed({
    sources: sourcesOf(options, datastore).map(holdWhileNotReady),
    ...{ clock, random, signal, log: logOf("feed") },
    expected: {
      felix: expectedOf("felix", options) + (options.followsSettings ? 1 : 0),
      bgp: expectedOf("bgp", options),
    },
    watch(set, state) {
      const watcher = watchers.get(set) ?? partHealth.ofFeed(set);
      watchers.set(set, watcher);
      watcher(state);
      if (set !== "felix") return;
      const isCurrent = state.inSync && state.cutOff === undefined;
      metrics.set("felix_resync_state", undefined, isCurrent ? 2 : state.inSync ? 0 : 1);
      if (isCurrent && !wasCurrent) metrics.add("felix_resyncs_started", undefined, 1);
      wasCurrent = isCurrent;
    },
  });
  const ready = () => {
    const [problem] = settings.problems;
    startup.report({ live: true, ready: problem === undefined, detail: problem ?? "" });
  };
  if (options.followsSettings) {
    // First of all consumers, so that parts find the datastore's settings when they are told that they are in sync.
    const source = new DatastoreSource({
      ...{ node, log: logOf("settings") },
      apply(sources) {
        settings.setDatastore(sources);
        ready();
      },
    });
    feed.follow("felix", source);
  } else ready();

  const world = { node, clock, random, metrics, feed, settings, datastore };
  const running = options.parts.map(async (part) => {
    metrics.set("cattail_node_part_up", part.name, 1);
    const reporter = partHealth.ofPart(part);
    reporter.report({ live: true, ready: false, detail: "is starting" });
    const failed = () => metrics.add("cattail_node_part_failures_total", part.name, 1);
    await supervise(part, { ...world, log: logOf(part.name), health: reporter, failed }, signal);
    metrics.set("cattail_node_part_up", part.name, 0);
  });
  log.info("The agent is running", { node, parts: options.parts.map(({ name }) => name).join(", ") });
  const about = { node, version: `cattail ${options.version}`, startedAtMs: clock.wallMs() };
  const reported = { ...about, health, sources: options.reports ?? {} };
  const around = [
    partHealth.beat(signal),
    servePages({ settings: typed, health, metrics, reported, clock, log: logOf("pages"), signal }),
  ];
  await aborted(signal);
  const ended = await settleWithin(Promise.all([...running, ...around]), { clock, limitMs: stopLimitMs });
  if (ended.is !== "settled") log.warn("Not all parts have ended in time; the process ends without them");
  await close();
}

/** Opened when somebody first asks, and again when that failed. */
function sharedDatastore({ environment, settings, clock, logOf }: AgentOptions) {
  const log = logOf("datastore");
  let opening: Promise<Datastore> | undefined;
  // Without a limit of requests, unless one is set: pods wait for what the CNI part asks, and five a second are a long wait.
  const unlimited = { clientQps: -1 } as const;
  const open = async () => {
    // Loaded late: an agent that follows a Typha may never ask, and the schemas of all kinds come with it.
    const { openDatastore } = await import("../../calico/datastore/index.ts");
    return await openDatastore({ ...unlimited, ...nodeDatastoreOptions(environment, settings) }, { clock, log });
  };
  return {
    async datastore(): Promise<Datastore> {
      opening ??= open();
      try {
        return await opening;
      } catch (error) {
        opening = undefined;
        throw error;
      }
    },
    async close(): Promise<void> {
      try {
        await (await opening)?.[Symbol.asyncDispose]();
      } catch (error) {
        log.warn("The datastore was not closed in good order", { problem: messageOf(error) });
      }
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function expectedOf(set: DataSet, { parts }: AgentOptions): number {
  return parts.filter(({ follows = [] }) => follows.includes(set)).length;
}

/** A connection for each data set where a Typha is set for it, and the datastore for those without. */
function sourcesOf(options: AgentOptions, datastore: () => Promise<Datastore>): FeedSource[] {
  const { node, version, clock, random, logOf, settings, environment } = options;
  const edge = { clock, random, log: logOf("feed") };
  const felix = typhaOptions("felix", options);
  const bgp = typhaOptions("bgp", options);
  const typhas = [
    ...(felix === undefined ? [] : [typhaSource({ set: "felix", follow: felix, node, version, ...edge })]),
    ...(bgp === undefined ? [] : [typhaSource({ set: "bgp", follow: bgp, node, version, ...edge })]),
  ];
  const served = typhas.flatMap(({ sets }) => sets);
  if (served.length === 2) return typhas;
  const [interfacePrefix = ""] = felixSettings(settings).value("InterfacePrefix");
  const usePodCidr = /^(1|t|true)$/i.test(environment.CALICO_USE_POD_CIDR || environment.USE_POD_CIDR || "");
  const rest = datastoreSource({ datastore, usePodCidr, interfacePrefix, ...edge });
  return [...typhas, { ...rest, sets: rest.sets.filter((set) => !served.includes(set)) }];
}
