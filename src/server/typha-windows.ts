// The HTTP addresses through which a running Typha is looked at, each only where the settings ask for it.
import { startDashboard } from "../dashboard/index.ts";
import { type HttpServer, healthRoutes, metricsRoutes, profileRoutes, startHttp } from "../observe/index.ts";
import {
  admitHttpsPeers,
  httpsServerOptions,
  type TlsFilesWatcher,
  tlsPolicy,
  watchTlsFiles,
} from "../security/index.ts";
import { TyphaDashboard } from "./dashboard-source.ts";
import { debugRoutes } from "./debug-routes.ts";
import type { Typha, TyphaParts } from "./typha.ts";
import type { MetricsRefresh } from "./typha-metrics.ts";

export type Windows = AsyncDisposable & { readonly addresses: Typha["windows"] };

type Opening = { readonly refresh: MetricsRefresh; readonly signal: AbortSignal };

export async function startWindows(parts: TyphaParts, { refresh, signal }: Opening): Promise<Windows> {
  const { settings, options } = parts;
  const edge = { clock: options.clock, log: options.log, signal };
  const servers: { -readonly [name in keyof Typha["windows"]]: HttpServer } = {};
  if (settings.healthEnabled) {
    servers.health = startHttp({
      ...edge,
      name: "health",
      host: settings.healthHost,
      port: settings.healthPort,
      routes: healthRoutes(parts.health),
    });
  }
  if (settings.prometheusMetricsEnabled) servers.metrics = await startMetrics(parts, { ...edge, refresh });
  if (settings.debugPort !== 0) servers.debug = startDebug(parts, edge);
  if (settings.dashboardEnabled) {
    const { dashboardHost: host, dashboardPort: port } = settings;
    try {
      servers.dashboard = await startDashboard({ ...edge, source: new TyphaDashboard(parts), host, port });
    } catch (error) {
      // Nodes do not wait for a page.
      options.log.error("The dashboard cannot be served", { problem: String(error) });
    }
  }
  // In turn, so that the addresses are known to whoever prints them; one that cannot be bound yet is not waited for.
  await Promise.race([
    Promise.all(Object.values(servers).map(({ listening }) => listening)),
    edge.clock.sleep(500, signal),
  ]);
  const addresses = Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, addressOf(server)]));
  return {
    addresses,
    async [Symbol.asyncDispose]() {
      await Promise.all(Object.values(servers).map((server) => server[Symbol.asyncDispose]()));
    },
  };
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
  const watcher = await watchTlsFiles({ certFile, keyFile, caFile }, { role: "server", ...edge });
  const tls = () => httpsServerOptions(watcher.state().material, policy, clientAuth);
  const server = startHttp({ ...plain, tls: { options: tls(), prepare: (one) => admitHttpsPeers(one, clientAuth) } });
  void renew(watcher, () => server.setTls(tls()));
  return server;
}

// New files count from the next scrape on.
async function renew(watcher: TlsFilesWatcher, apply: () => void): Promise<void> {
  for await (const _ of watcher.changes()) apply();
}

function addressOf({ addresses: [first] }: HttpServer): string {
  if (first === undefined) return "";
  return `${first.family === "IPv6" ? `[${first.address}]` : first.address}:${first.port}`;
}
