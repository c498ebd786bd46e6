// The agent's HTTP servers: probes and metrics, each where its settings say, opened anew when these change.
import { type Clock, type Log, messageOf, passAbort } from "../../base/lib/index.ts";
import {
  type Health,
  type HttpServer,
  healthRoutes,
  type Metrics,
  metricsRoutes,
  startHttp,
} from "../../base/observe/index.ts";
import type { SettingName, TypedSettings } from "../settings/index.ts";

export type PagesOptions = {
  readonly settings: TypedSettings;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
};

type Page = {
  readonly settings: readonly SettingName[];
  /** Undefined: it is switched off. */
  readonly open: (signal: AbortSignal) => Promise<HttpServer | undefined>;
};

const retryMs = 5000;

/** Until the signal. A page that cannot be opened is tried again, and says so once. */
export async function servePages(options: PagesOptions): Promise<void> {
  await Promise.all([healthPage(options), metricsPage(options)].map((page) => servePage(page, options)));
}

async function servePage(page: Page, { settings, clock, log, signal }: PagesOptions): Promise<void> {
  while (!signal.aborted) {
    const changed = new AbortController();
    using _ = settings.onChange(page.settings, () => changed.abort());
    using _passing = passAbort(signal, changed);
    const until = changed.signal;
    try {
      await using _server = await page.open(until);
      await aborted(until);
    } catch (error) {
      log.error("A page cannot be served; trying again every few seconds", {
        settings: page.settings[0] ?? "",
        problem: messageOf(error),
      });
      await clock.sleep(retryMs, until).catch(() => undefined); // aborted: the loop looks again
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function healthPage({ settings, health, clock, log }: PagesOptions): Page {
  return {
    settings: ["HealthEnabled", "HealthHost", "HealthPort"],
    async open(signal) {
      if (!settings.value("HealthEnabled")) return undefined;
      const [host, port] = [settings.value("HealthHost"), settings.value("HealthPort")];
      return startHttp({ name: "health", host, port, routes: healthRoutes(health), clock, log, signal });
    },
  };
}

function metricsPage({ settings, metrics, clock, log }: PagesOptions): Page {
  return {
    settings: [
      "PrometheusMetricsEnabled",
      "PrometheusMetricsHost",
      "PrometheusMetricsPort",
      "PrometheusMetricsCAFile",
      "PrometheusMetricsCertFile",
      "PrometheusMetricsKeyFile",
      "PrometheusMetricsClientAuth",
    ],
    async open(signal) {
      if (!settings.value("PrometheusMetricsEnabled")) return undefined;
      const [host, port] = [settings.value("PrometheusMetricsHost"), settings.value("PrometheusMetricsPort")];
      const plain = { name: "metrics", host, port, routes: metricsRoutes(metrics), clock, log, signal };
      const certFile = settings.value("PrometheusMetricsCertFile");
      const keyFile = settings.value("PrometheusMetricsKeyFile");
      const caFile = settings.value("PrometheusMetricsCAFile");
      if (certFile === "" && keyFile === "") return startHttp(plain);
      const clientAuth = settings.value("PrometheusMetricsClientAuth");
      return await startHttps(plain, { certFile, keyFile, caFile }, clientAuth);
    },
  };
}

type Plain = Omit<Parameters<typeof startHttp>[0], "tls">;

async function startHttps(
  plain: Plain,
  files: { certFile: string; keyFile: string; caFile: string },
  clientAuth: "RequireAndVerifyClientCert" | "RequireAnyClientCert" | "VerifyClientCertIfGiven" | "NoClientCert",
): Promise<HttpServer> {
  const { admitHttpsPeers, httpsServerOptions, tlsPolicy, watchTlsFiles } = await import(
    "../../base/security/index.ts"
  );
  const { clock, log, signal } = plain;
  const watcher = await watchTlsFiles(files, { role: "metrics", clock, log, signal });
  const tls = () =>
    httpsServerOptions(watcher.state().material, tlsPolicy({ minVersion: "1.2", cipherSuites: [] }), clientAuth);
  const server = startHttp({ ...plain, tls: { options: tls(), prepare: (one) => admitHttpsPeers(one, clientAuth) } });
  void (async () => {
    for await (const _ of watcher.changes()) {
      try {
        server.setTls(tls());
      } catch (error) {
        log.error("The metrics cannot use the new TLS files", { problem: messageOf(error) });
      }
    }
  })();
  return server;
}
