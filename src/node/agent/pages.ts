// The agent's HTTP servers: probes, metrics and the report for the dashboard, each where its settings say, opened anew when these change.
import { type Clock, type Log, limitRepeats, messageOf, passAbort } from "../../base/lib/index.ts";
import {
  type Health,
  type HttpServer,
  healthRoutes,
  type Metrics,
  metricsRoutes,
  startHttp,
} from "../../base/observe/index.ts";
import type { PeerRequirement } from "../../base/security/index.ts";
import type { SettingName, TypedSettings } from "../settings/index.ts";
import { type ReportedNode, reportRoutes } from "./report.ts";

export type PagesOptions = {
  readonly settings: TypedSettings;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly reported: ReportedNode;
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
  const pages = [healthPage(options), metricsPage(options), reportPage(options)];
  await Promise.all(pages.map((page) => servePage(page, options)));
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
      return await startHttps(plain, { certFile, keyFile, caFile }, { clientAuth });
    },
  };
}

const loopback = ["localhost", "127.0.0.1", "::1"];

/** Only for Typha, which shows the same certificate here as to the agent that connects to it. */
function reportPage({ settings, reported, clock, log }: PagesOptions): Page {
  return {
    settings: ["ReportEnabled", "ReportHost", "ReportPort"],
    async open(signal) {
      if (!settings.value("ReportEnabled")) return undefined;
      const [host, port] = [settings.value("ReportHost"), settings.value("ReportPort")];
      const plain = {
        name: "report",
        host,
        port,
        routes: reportRoutes(reported, { clock, signal }),
        clock,
        log,
        signal,
      };
      const certFile = settings.value("TyphaCertFile");
      const keyFile = settings.value("TyphaKeyFile");
      const caFile = settings.value("TyphaCAFile");
      const requirement = { commonName: settings.value("TyphaCN"), uriSan: settings.value("TyphaURISAN") };
      const isNamed = requirement.commonName !== "" || requirement.uriSan !== "";
      if (certFile !== "" && keyFile !== "" && caFile !== "" && isNamed)
        return await startHttps(plain, { certFile, keyFile, caFile }, { clientAuth: verified, requirement });
      if (loopback.includes(host)) return startHttp({ ...plain, guard: { hosts: [] } });
      throw new Error(
        "the report needs mutual TLS: set FELIX_TYPHACERTFILE, FELIX_TYPHAKEYFILE, FELIX_TYPHACAFILE and FELIX_TYPHACN or FELIX_TYPHAURISAN, or FELIX_REPORTHOST=localhost",
      );
    },
  };
}

const verified = "RequireAndVerifyClientCert";

type Admission = {
  readonly clientAuth: typeof verified | "RequireAnyClientCert" | "VerifyClientCertIfGiven" | "NoClientCert";
  /** Given: whoever is called so, and nobody else. */
  readonly requirement?: PeerRequirement;
};

type Plain = Omit<Parameters<typeof startHttp>[0], "tls">;
type TlsServer = Parameters<NonNullable<NonNullable<Parameters<typeof startHttp>[0]["tls"]>["prepare"]>>[0];

async function startHttps(
  plain: Plain,
  files: { certFile: string; keyFile: string; caFile: string },
  { clientAuth, requirement }: Admission,
): Promise<HttpServer> {
  const { admitHttpsPeers, admitNamedPeers, httpsServerOptions, tlsPolicy, watchTlsFiles } = await import(
    "../../base/security/index.ts"
  );
  const { name, clock, log, signal } = plain;
  const watcher = await watchTlsFiles(files, {
    role: requirement === undefined ? "metrics" : "server",
    clock,
    log,
    signal,
  });
  const tls = () =>
    httpsServerOptions(watcher.state().material, tlsPolicy({ minVersion: "1.2", cipherSuites: [] }), clientAuth);
  const rare = limitRepeats(log, { clock });
  const refuse = (refusal: { address: string; says: string }) =>
    rare.warn("Refused a client", { server: name, ...refusal });
  const prepare = (one: TlsServer) => {
    admitHttpsPeers(one, clientAuth);
    if (requirement !== undefined) admitNamedPeers(one, requirement, refuse);
  };
  const server = startHttp({ ...plain, tls: { options: tls(), prepare } });
  void (async () => {
    for await (const _ of watcher.changes()) {
      try {
        server.setTls(tls());
      } catch (error) {
        log.error("New TLS files cannot be used", { server: name, problem: messageOf(error) });
      }
    }
  })();
  return server;
}
