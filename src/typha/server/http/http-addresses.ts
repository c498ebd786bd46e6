// The HTTP addresses through which a running Typha is looked at, each only where the settings ask for it.

import { type Log, messageOf } from "../../../base/lib/index.ts";
import { type HttpServer, healthRoutes, metricsRoutes, profileRoutes, startHttp } from "../../../base/observe/index.ts";
import {
  admitHttpsPeers,
  httpsServerOptions,
  type TlsFilesWatcher,
  tlsPolicy,
  watchTlsFiles,
} from "../../../base/security/index.ts";
import { startDashboard } from "../../dashboard/index.ts";
import type { MetricsRefresh } from "../reporting/metrics-refresh.ts";
import type { Typha, TyphaParts } from "../typha-parts.ts";
import { TyphaDashboard } from "./dashboard-source.ts";
import { debugRoutes } from "./debug-routes.ts";

export type HttpAddresses = AsyncDisposable & { readonly addresses: Typha["httpAddresses"] };

type Opening = { readonly refresh: MetricsRefresh; readonly signal: AbortSignal };

export async function startHttpAddresses(
  parts: TyphaParts,
  { refresh, signal: given }: Opening,
): Promise<HttpAddresses> {
  const { settings, options } = parts;
  const closing = new AbortController();
  const signal = AbortSignal.any([given, closing.signal]);
  const edge = { clock: options.clock, log: options.log, signal };
  const servers: { -readonly [name in keyof Typha["httpAddresses"]]: HttpServer } = {};
  await using opened = new AsyncDisposableStack();
  if (settings.healthEnabled) {
    servers.health = opened.use(
      startHttp({
        ...edge,
        name: "health",
        host: settings.healthHost,
        port: settings.healthPort,
        routes: healthRoutes(parts.health),
      }),
    );
  }
  const metrics = settings.prometheusMetricsEnabled
    ? keepTrying(() => startMetrics(parts, { ...edge, refresh }), edge)
    : Promise.resolve(undefined);
  opened.defer(async () => await (await metrics)?.[Symbol.asyncDispose]());
  opened.defer(() => closing.abort(new Error("the HTTP servers are closed"))); // which ends the trying
  const metricsListening = metrics.then(async (server) => {
    if (server !== undefined) servers.metrics = server;
    await server?.listening;
  });
  metricsListening.catch(() => undefined); // stopped before it could listen
  if (settings.debugPort !== 0) servers.debug = opened.use(startDebug(parts, edge));
  if (settings.dashboardEnabled) {
    const { dashboardHost: host, dashboardPort: port } = settings;
    try {
      const source = new TyphaDashboard(parts);
      servers.dashboard = opened.use(await startDashboard({ ...edge, source, host, port }));
    } catch (error) {
      // Nodes do not wait for a page.
      options.log.error("The dashboard cannot be served", { problem: String(error) });
    }
  }
  // In turn, so that the addresses are known to whoever prints them; one that cannot be bound yet is not waited for.
  await Promise.race([
    Promise.all([metricsListening, ...Object.values(servers).map(({ listening }) => listening)]),
    edge.clock.sleep(500, signal),
  ]);
  const addresses = Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, addressOf(server)]));
  const all = opened.move();
  return { addresses, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

type Edge = Pick<Parameters<typeof startHttp>[0], "clock" | "log" | "signal">;

function startDebug(parts: TyphaParts, edge: Edge): HttpServer {
  const { debugHost: host, debugPort: port } = parts.settings;
  if (host !== "localhost")
    edge.log.warn("The debug pages ask nobody for a password, and may be reached from other machines", {
      host: host === "" ? "all addresses" : host,
      port,
    });
  const routes = { ...profileRoutes(edge), ...debugRoutes(parts) };
  return startHttp({ ...edge, name: "debug", host, port, guard: { hosts: [host] }, routes });
}

const metricsRetryMs = 5000;

// Nodes do not wait for metrics, no more than they do in the original. There they stay away until a restart.
async function keepTrying(start: () => Promise<HttpServer>, edge: Edge): Promise<HttpServer | undefined> {
  let said: string | undefined;
  while (!edge.signal.aborted) {
    try {
      return await start();
    } catch (error) {
      const problem = messageOf(error);
      if (problem !== said) edge.log.error("Metrics cannot be served; trying again every few seconds", { problem });
      said = problem;
    }
    await edge.clock.sleep(metricsRetryMs, edge.signal).catch(() => undefined); // aborted: the loop ends
  }
  return undefined;
}

async function startMetrics(
  parts: TyphaParts,
  { refresh, ...edge }: Edge & Pick<Opening, "refresh">,
): Promise<HttpServer> {
  const { settings, metrics } = parts;
  const routes = metricsRoutes(metrics, { refresh: () => refresh.refreshForScrape() });
  const plain = {
    ...edge,
    name: "metrics",
    host: settings.prometheusMetricsHost,
    port: settings.prometheusMetricsPort,
    routes,
  };
  const {
    prometheusMetricsCertFile: certFile,
    prometheusMetricsKeyFile: keyFile,
    prometheusMetricsCaFile: caFile,
  } = settings;
  if (certFile === "" && keyFile === "") return startHttp(plain);
  const policy = tlsPolicy({ minVersion: settings.tlsMinVersion, cipherSuites: settings.tlsCipherSuites });
  const clientAuth = settings.prometheusMetricsClientAuth;
  await using opened = new AsyncDisposableStack();
  const watcher = opened.use(await watchTlsFiles({ certFile, keyFile, caFile }, { role: "metrics", ...edge }));
  const tls = () => httpsServerOptions(watcher.state().material, policy, clientAuth);
  const server = startHttp({ ...plain, tls: { options: tls(), prepare: (one) => admitHttpsPeers(one, clientAuth) } });
  void renew(watcher, () => server.setTls(tls()), edge.log);
  opened.move(); // the signal ends it
  return server;
}

// New files count from the next scrape on.
async function renew(watcher: TlsFilesWatcher, apply: () => void, log: Log): Promise<void> {
  for await (const _ of watcher.changes()) {
    try {
      apply();
    } catch (error) {
      // The watcher tries files before it names them; whatever it overlooks must not end the process.
      log.error("The metrics cannot use the new TLS files", { problem: messageOf(error) });
    }
  }
}

function addressOf({ addresses: [first] }: HttpServer): string {
  if (first === undefined) return "";
  return `${first.family === "IPv6" ? `[${first.address}]` : first.address}:${first.port}`;
}
