// A whole Typha from its settings: datastore, syncers, caches, server, and what watches over them. This file is the
// order in which things start; each thing is a file of its own.
//
//   datastore ─ syncers ─┬─▶ server (threads, TLS) ─▶ clients
//                        └─▶ Typha service, node count ─▶ rebalancing, evacuation
//   health, metrics, debug: HTTP servers that only look
import { networkInterfaces } from "node:os";
import type { ReadSettings, Settings } from "../config/index.ts";
import { type Datastore, manifestProblemText, whenForbidden } from "../datastore/index.ts";
import { type Clock, deadline, type Log, systemClock } from "../lib/index.ts";
import { type Kind, type SyncerBatch, syncStatus } from "../model/index.ts";
import { createHealth, createMetrics, type Health, type Metrics } from "../observe/index.ts";
import { initialiseDatastore, runSyncers, type Syncers } from "../syncer/index.ts";
import { DatastoreContact } from "./datastore-contact.ts";
import { Evacuation, type Peer } from "./evacuation.ts";
import { Introspection } from "./introspection.ts";
import { createLegacySpeech } from "./legacy-speech.ts";
import { openDatastore } from "./open-datastore.ts";
import { probeServer } from "./probe-server.ts";
import { rebalance } from "./rebalancing.ts";
import { SelfDial } from "./self-dial.ts";
import { type Server, startServer } from "./serve.ts";
import { serverLimits } from "./server-limits.ts";
import { followServiceBesideEtcd } from "./service-follower.ts";
import { TyphaHealth } from "./typha-health.ts";
import { MetricsRefresh, metricLabels } from "./typha-metrics.ts";
import { TyphaService } from "./typha-service.ts";
import { openTls, type ServerTls } from "./typha-tls.ts";
import { startWindows } from "./typha-windows.ts";

export type TyphaOptions = {
  readonly read: ReadSettings;
  readonly version: string;
  readonly log: Log;
  readonly metrics?: Metrics;
  /** FELIX_INTERFACEPREFIX of our own environment: the original looks at it, too. */
  readonly interfacePrefix?: string;
  /** Instead of the one the settings name: for the demo and for programs that bring their own. */
  readonly datastore?: Datastore;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** Ends everything at once. Typha.shutdown() is the gentle way. */
  readonly signal: AbortSignal;
};

export type Typha = AsyncDisposable & {
  readonly server: Server;
  readonly health: Health;
  /** The HTTP addresses in use, by name. */
  readonly windows: { readonly [name in "health" | "metrics" | "debug" | "dashboard"]?: string };
  /** Looks at the TLS files now. */
  reload(): Promise<void>;
  /** Hands clients over gradually, then ends. */
  shutdown(): Promise<void>;
};

/** Everything a running Typha is made of, for those who look at it: metrics, debug pages, dashboard. */
export type TyphaParts = {
  readonly options: TyphaOptions & { readonly clock: Clock };
  readonly settings: Settings;
  readonly datastore: Datastore;
  readonly server: Server;
  readonly syncers: Syncers;
  readonly introspection: Introspection;
  readonly contact: DatastoreContact;
  readonly service: TyphaService;
  readonly evacuation: Evacuation;
  readonly tls: ServerTls | undefined;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly startedAtMs: number;
};

const retryMs = 1000;
const attemptMs = 30_000;
const reportIntervalMs = 1000;

export async function startTypha(given: TyphaOptions): Promise<Typha> {
  const options = { clock: systemClock, random: Math.random, ...given };
  const { log, clock, random } = options;
  const settings = options.read.values;
  const ending = new AbortController();
  const signal = AbortSignal.any([options.signal, ending.signal]);
  await using started = new AsyncDisposableStack();
  started.defer(() => ending.abort(new Error("Typha stops")));

  const tls = await openTls(settings, { log, clock, signal });
  if (tls !== undefined) started.use(tls);
  const datastore = options.datastore ?? started.use(await openDatastore(settings, { clock, log }));

  const metrics = options.metrics ?? createMetrics({ clock, labels: metricLabels });
  const syncers = runSyncers({
    datastore,
    clock,
    log,
    random,
    signal,
    usePodCidr: settings.usePodCidr,
    interfacePrefix: options.interfacePrefix ?? "",
  });
  const service = new TyphaService({
    namespace: settings.k8sNamespace,
    name: settings.k8sServiceName,
    portName: settings.k8sPortName,
  });
  const isWatched = settings.debugPort !== 0 || settings.dashboardEnabled;
  const introspection = new Introspection({ clock, isRecording: isWatched });
  const legacy = createLegacySpeech(log);
  const server = started.use(
    await startServer({
      listen: { host: settings.serverHost, port: settings.serverPort },
      batches: introspection.tap(tap(syncers, service)),
      ...(tls === undefined ? {} : { tls: tls.setup() }),
      limits: serverLimits(settings),
      ...(settings.workers === "auto" ? {} : { workers: settings.workers }),
      legacyForm: legacy.form,
      version: options.version,
      isVerbose: settings.logSeverityScreen === "DEBUG",
      clock,
      random,
      log,
      metrics,
      signal,
    }),
  );
  introspection.attach(server);
  const contact = new DatastoreContact({ datastore, clock, log, limitMs: settings.staleServerTimeoutMs });
  const isTls = tls !== undefined;
  const evacuation = new Evacuation({
    limitMs: settings.staleServerTimeoutMs,
    silentForMs: () => contact.silentForMs,
    peers: () => peersOf(settings, service, server.address.port),
    isServing: async ({ host, port }) =>
      (await probeServer({ host, port, isTls, mustBeFresh: true }, { timeoutMs: 3000 })) === undefined,
    handOverNode: (already) => server.handOverNode(already),
    clock,
    log,
  });
  const health = createHealth({ clock, log });
  const parts: TyphaParts = {
    options,
    settings,
    datastore,
    server,
    syncers,
    introspection,
    contact,
    service,
    evacuation,
    tls,
    health,
    metrics,
    startedAtMs: clock.wallMs(),
  };
  const refresh = new MetricsRefresh(parts);
  const dial = new SelfDial({ host: dialHost(settings.serverHost), port: server.address.port, isTls }, clock);
  const loops = [
    initialise(datastore, settings, { log, clock, signal }),
    contact.run(signal),
    evacuation.run(signal),
    dial.run(signal),
    report(parts, { dial, refresh, signal }),
  ];
  if (tls !== undefined) loops.push(tls.follow(server, signal));
  if (settings.connectionRebalancingMode === "kubernetes" && datastore.flavour === "etcdv3") {
    loops.push(followServiceBesideEtcd(settings, service, { clock, log, random, signal }));
  }
  if (settings.connectionRebalancingMode === "kubernetes") {
    const nodeCount = () => syncers.stats().nodeCount;
    const limits = { lowerLimit: settings.maxConnectionsLowerLimit, upperLimit: settings.maxConnectionsUpperLimit };
    const { setMaxConnections } = server;
    loops.push(
      rebalance(
        {
          ...limits,
          intervalMs: settings.k8sServicePollIntervalMs,
          serverCount: () => service.serverCount,
          nodeCount,
          setMaxConnections,
          clock,
          random,
          log,
        },
        signal,
      ),
    );
  }
  const windows = started.use(await startWindows(parts, { refresh, signal }));
  const all = started.move();
  return {
    server,
    health,
    windows: windows.addresses,
    reload: async () => void (await tls?.reload()),
    async shutdown() {
      await server.shutdown();
      await all.disposeAsync();
    },
    async [Symbol.asyncDispose]() {
      await all.disposeAsync();
      await Promise.allSettled(loops);
    },
  };
}

// Beside the syncers, not before them: a datastore that is not there yet keeps the server from being ready, not from
// answering its probes. What it waits for is said once.
async function initialise(
  datastore: Datastore,
  settings: Settings,
  { log, clock, signal }: { log: Log; clock: Clock; signal: AbortSignal },
): Promise<void> {
  if (settings.datastoreType === "memory") return; // whoever brings objects in memory brings these, too
  const newClusterGuid = () => crypto.randomUUID().replaceAll("-", "");
  let lastProblem: string | undefined;
  for (;;) {
    using attempt = deadline(signal, attemptMs, clock);
    try {
      await initialiseDatastore(datastore, { clock, log, signal: attempt.signal, newClusterGuid });
      log.info("Datastore initialized.");
      return;
    } catch (error) {
      if (signal.aborted) return;
      const problem = error instanceof Error ? error.message : String(error);
      if (problem !== lastProblem)
        log.error("Waiting for the datastore; trying again every second", {
          datastore: settings.datastoreType,
          problem,
        });
      lastProblem = problem;
      await clock.sleep(retryMs, signal).catch(() => undefined); // aborted: the next attempt says so
    }
  }
}

// The server reads the syncers' batches; the service's slices are among them.
async function* tap(batches: AsyncIterable<SyncerBatch>, service: TyphaService): AsyncGenerator<SyncerBatch> {
  for await (const batch of batches) {
    if (batch.syncer === "felix") service.apply(batch.updates);
    yield batch;
  }
}

/** Peers that were ready when last heard of, and those configured; not ourselves. */
function peersOf(settings: Settings, service: TyphaService, ownPort: number): Peer[] {
  const own = new Set(
    Object.values(networkInterfaces()).flatMap((addresses) => addresses?.map(({ address }) => address) ?? []),
  );
  const configured = settings.peerAddresses.map((text) => {
    const at = text.lastIndexOf(":");
    return { host: text.slice(0, at), port: Number(text.slice(at + 1)) };
  });
  const known = [...service.peers().filter(({ isReady }) => isReady), ...configured];
  return known.filter(({ host, port }) => !((own.has(host) || host === settings.serverHost) && port === ownPort));
}

type Reporting = { dial: SelfDial; refresh: MetricsRefresh; signal: AbortSignal };

async function report(parts: TyphaParts, { dial, refresh, signal }: Reporting): Promise<void> {
  const { health, datastore, server, syncers, tls, evacuation, contact, options } = parts;
  const typhaHealth = new TyphaHealth(health);
  while (!signal.aborted) {
    const forbidden = syncers.reports().filter(({ state }) => state === "forbidden");
    const isMissed = ({ kind }: { kind: Kind }) => whenForbidden(kind) === "empty";
    typhaHealth.report({
      statuses: syncers.stats().statuses,
      tlsProblem: tls?.problem(),
      unansweredMs: dial.unansweredMs,
      silentThreadMs: server.silentForMs,
      evacuation: evacuation.state,
      forbidden: forbidden.filter((report) => !isMissed(report)).map(({ kind }) => kind),
      missed: forbidden.filter(isMissed).map(({ kind }) => kind),
      manifestProblems: (datastore.problems?.() ?? []).map(manifestProblemText),
    });
    const isInSync = Object.values(syncers.stats().statuses).every((status) => status === syncStatus.inSync);
    server.setFreshness(isInSync && contact.state.is === "reachable");
    refresh.refresh();
    await options.clock.sleep(reportIntervalMs, signal).catch(() => undefined); // aborted: the loop ends
  }
}

function dialHost(serverHost: string): string {
  return serverHost === "" || serverHost === "0.0.0.0" || serverHost === "::" ? "127.0.0.1" : serverHost;
}
