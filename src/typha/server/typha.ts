// A whole Typha from its settings: datastore, syncers, caches, server, and what watches over them. This file is the
// order in which things start; each thing is a file of its own.
//
//   datastore ─ syncers ─┬─▶ server (threads, TLS) ─▶ clients
//                        └─▶ Typha service, node count ─▶ rebalancing, evacuation
//   health, metrics, debug: HTTP servers that only look

import { type Clock, type Log, systemClock } from "../../base/lib/index.ts";
import { createHealth } from "../../base/observe/index.ts";
import { openDatastore } from "../../calico/datastore/index.ts";
import { runSyncers } from "../../calico/syncer/index.ts";
import { datastoreOptions, type Settings } from "../settings/index.ts";
import { rebalance } from "./connections/rebalancing.ts";
import { serverLimits, workerCount } from "./connections/server-limits.ts";
import { UncountedDials } from "./connections/uncounted-dials.ts";
import { DatastoreContact } from "./datastore/datastore-contact.ts";
import { createLegacyForm } from "./datastore/legacy-losses.ts";
import { prepareDatastore } from "./datastore/prepare-datastore.ts";
import { startHttpAddresses } from "./http/http-addresses.ts";
import { Introspection } from "./introspection/introspection.ts";
import { openTls } from "./listening/server-tls.ts";
import { askNeighbour } from "./peers/ask-neighbour.ts";
import { Evacuation } from "./peers/evacuation.ts";
import { writeAnswer } from "./peers/neighbour-protocol.ts";
import { Neighbours } from "./peers/neighbours.ts";
import { everyOtherServer, otherServers, ownAddresses } from "./peers/other-servers.ts";
import { ownNodes } from "./peers/own-nodes.ts";
import { probeServer } from "./peers/probe-server.ts";
import { SelfDial } from "./peers/self-dial.ts";
import { TyphaService } from "./peers/typha-service.ts";
import { followServiceBesideEtcd } from "./peers/typha-service-beside-etcd.ts";
import { MetricsRefresh } from "./reporting/metrics-refresh.ts";
import { reportHealth } from "./reporting/report-health.ts";
import { createTyphaMetrics } from "./reporting/typha-metrics.ts";
import { type Server, startServer } from "./serve.ts";
import type { Typha, TyphaOptions, TyphaParts } from "./typha-parts.ts";

const tlsIsOff = "TLS is off here, and servers tell each other their nodes over mutual TLS only";

type Options = TyphaParts["options"] & { readonly random: () => number };

export async function startTypha(given: TyphaOptions): Promise<Typha> {
  const options: Options = { clock: systemClock, random: Math.random, ...given };
  const ending = new AbortController();
  const signal = AbortSignal.any([options.signal, ending.signal]);
  await using started = new AsyncDisposableStack();
  started.defer(() => ending.abort(new Error("Typha stops")));
  const parts = await startParts(options, started, signal);
  const refresh = new MetricsRefresh(parts);
  const loops = startLoops(parts, { ...options, refresh, signal });
  const http = started.use(await startHttpAddresses(parts, { refresh, signal }));
  const all = started.move();
  const { server, health, tls, introspection } = parts;
  return {
    server,
    health,
    get updates() {
      return introspection.updates;
    },
    httpAddresses: http.addresses,
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

/** In the order of the flow. What has to be closed again is given to `started`. */
async function startParts(options: Options, started: AsyncDisposableStack, signal: AbortSignal): Promise<TyphaParts> {
  const { log, clock, random } = options;
  const settings = options.read.values;
  const tls = await openTls(settings, { log, clock, signal });
  if (tls !== undefined) started.use(tls);
  const datastore = options.datastore ?? started.use(await openDatastore(datastoreOptions(settings), { clock, log }));
  const syncers = runSyncers({
    ...{ datastore, clock, log, random, signal },
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
  const metrics = options.metrics ?? createTyphaMetrics(settings, { clock });
  const isTls = tls !== undefined;
  const counts = new UncountedDials(metrics, { isTls });
  let ownClients: Server["clients"] | undefined; // neighbours may ask before there is a server to look at
  const server = started.use(
    await startServer({
      ...{ clock, random, log, metrics: counts, signal },
      listen: { host: settings.serverHost, port: settings.serverPort },
      batches: introspection.tap(service.tap(syncers)),
      ...(tls === undefined ? {} : { tls: tls.setup() }),
      limits: serverLimits(settings),
      workers: workerCount(settings),
      legacyForm: createLegacyForm(log),
      answerNeighbour: async () => writeAnswer(ownNodes(introspection, (await ownClients?.()) ?? [])),
      version: options.version,
      leastLogged: leastLogged(settings),
    }),
  );
  introspection.attach(server);
  ownClients = server.clients;
  const contact = new DatastoreContact({ datastore, clock, log, limitMs: settings.staleServerTimeoutMs });
  const evacuation = makeEvacuation({ settings, server, service, contact, tls, options });
  const neighbours = new Neighbours({
    peers: () => everyOtherServer({ settings, service, own: ownAddresses(settings, server) }),
    ask: (peer) => (tls === undefined ? Promise.reject(new Error(tlsIsOff)) : askNeighbour(peer, tls.setup(), clock)),
    clock,
  });
  const health = createHealth({ clock, log });
  const ownPort = { host: dialHost(settings.serverHost), port: server.address.port, isTls };
  return {
    ...{
      options,
      settings,
      datastore,
      syncers,
      service,
      introspection,
      metrics,
      server,
      contact,
      evacuation,
      neighbours,
      tls,
      health,
    },
    dial: new SelfDial(ownPort, { clock, counts }),
    startedAtMs: clock.wallMs(),
  };
}

type Evacuated = Pick<TyphaParts, "settings" | "server" | "service" | "contact" | "tls" | "options">;

function makeEvacuation({ settings, server, service, contact, tls, options }: Evacuated): Evacuation {
  const { clock, log } = options;
  const own = ownAddresses(settings, server);
  return new Evacuation({
    limitMs: settings.staleServerTimeoutMs,
    silentForMs: () => contact.silentForMs,
    peers: () => otherServers({ settings, service, own }),
    async isServing(peer) {
      const target = { ...peer, isTls: tls !== undefined, mustBeFresh: true };
      return (await probeServer(target, { timeoutMs: 3000, clock })) === undefined;
    },
    handOverNode: (already) => server.handOverNode(already),
    clock,
    log,
  });
}

type Running = { refresh: MetricsRefresh; log: Log; clock: Clock; random: () => number; signal: AbortSignal };

/** Each runs until the signal aborts, and ends without an error. */
function startLoops(parts: TyphaParts, { refresh, ...edge }: Running): Promise<void>[] {
  const { settings, datastore, server, syncers, service, contact, evacuation, dial, tls } = parts;
  const { signal } = edge;
  const loops = [
    prepareDatastore(datastore, settings, edge),
    contact.run(signal),
    evacuation.run(signal),
    dial.run(signal),
    reportHealth(parts, { refresh, signal }),
  ];
  if (tls !== undefined) loops.push(tls.follow(server, signal));
  if (settings.connectionRebalancingMode !== "kubernetes") return loops;
  if (datastore.flavour === "etcdv3") loops.push(followServiceBesideEtcd(settings, service, edge));
  const rebalancing = {
    intervalMs: settings.k8sServicePollIntervalMs,
    lowerLimit: settings.maxConnectionsLowerLimit,
    upperLimit: settings.maxConnectionsUpperLimit,
    serverCount: () => service.serverCount,
    nodeCount: () => syncers.stats().nodeCount,
    setMaxConnections: server.setMaxConnections,
  };
  return [...loops, rebalance({ ...rebalancing, ...edge }, signal)];
}

function dialHost(serverHost: string): string {
  return serverHost === "" || serverHost === "0.0.0.0" || serverHost === "::" ? "127.0.0.1" : serverHost;
}

/** Workers hand over only lines that some destination would write. */
function leastLogged({ logSeverityScreen, logSeverityFile, logSeveritySys }: Settings): keyof Log {
  const severities: readonly string[] = [logSeverityScreen, logSeverityFile, logSeveritySys];
  if (severities.includes("DEBUG")) return "debug";
  if (severities.includes("INFO")) return "info";
  return severities.includes("WARNING") ? "warn" : "error";
}
