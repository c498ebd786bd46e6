// The two examinations: before a server starts, everything it will need; after, the servers themselves.

import type { Clock } from "../../base/lib/index.ts";
import type { Account, Datastore } from "../../calico/datastore/index.ts";
import { type SyncerType, syncStatus } from "../../calico/model/index.ts";
import type { ClientTls, ServerAddress } from "../../typha/client/index.ts";
import type { Environment, Settings } from "../../typha/settings/index.ts";
import { checkDatastore } from "./checks/check-datastore.ts";
import { checkPorts, wantedPorts } from "./checks/check-ports.ts";
import { checkSettings, hasMetricsTls } from "./checks/check-settings.ts";
import { checkTlsFiles } from "./checks/check-tls-files.ts";
import { passed, type Section } from "./finding.ts";
import { compareServers, type Lag, lagsOf } from "./servers/compare-servers.ts";
import { examineServer } from "./servers/examine-server.ts";
import type { ServerView } from "./servers/server-view.ts";

export type BeforeOptions = {
  readonly environment: Environment;
  readonly configFile?: string;
  /** Whose rights are looked at, where it is not whoever runs this. */
  readonly account?: Account;
  /** What the server itself would open. */
  readonly openDatastore: (settings: Settings) => Promise<Datastore>;
  readonly clock: Clock;
};

export async function examineSetup(options: BeforeOptions): Promise<Section[]> {
  const { section, settings, isDatastoreNamed } = checkSettings(options);
  if (settings === undefined) return [section];
  const { serverCertFile: certFile, serverKeyFile: keyFile, caFile } = settings;
  const tls = certFile === "" ? [] : [await tlsSection({ certFile, keyFile, caFile }, options.clock)];
  if (hasMetricsTls(settings)) tls.push(await metricsTlsSection(settings, options.clock));
  const ports = { name: "ports", findings: await checkPorts(wantedPorts(settings)) };
  const datastore =
    isDatastoreNamed === true ? await checkDatastore(() => options.openDatastore(settings), options.account) : [];
  return [section, ...tls, ports, ...datastore];
}

async function tlsSection(
  files: { certFile: string; keyFile: string; caFile: string },
  clock: Clock,
): Promise<Section> {
  const expected = { commonName: "calico-typha" };
  const findings = await checkTlsFiles({ files, role: "server", nowMs: clock.wallMs(), expected });
  return { name: "TLS files", findings };
}

async function metricsTlsSection(settings: Settings, clock: Clock): Promise<Section> {
  const files = {
    certFile: settings.prometheusMetricsCertFile,
    keyFile: settings.prometheusMetricsKeyFile,
    // Who comes is judged by it only where the setting says so.
    caFile: /Verify/.test(settings.prometheusMetricsClientAuth) ? settings.prometheusMetricsCaFile : "",
  };
  return {
    name: "TLS files of the metrics",
    findings: await checkTlsFiles({ files, role: "metrics", nowMs: clock.wallMs() }),
  };
}

export type ServersOptions = {
  readonly servers: readonly ServerAddress[];
  readonly tls: ClientTls | undefined;
  readonly type: SyncerType;
  readonly policyKeys: "modern" | "legacy";
  readonly timeoutMs: number;
  /** How long to look for changes once all are in sync. */
  readonly observeMs: number;
  readonly clock: Clock;
};

export type ServersExamination = {
  readonly sections: readonly Section[];
  readonly views: readonly ServerView[];
  readonly lags: ReadonlyMap<ServerView, Lag>;
};

export async function examineServers(options: ServersOptions): Promise<ServersExamination> {
  const { servers, tls, clock, observeMs } = options;
  const sections: Section[] = [];
  if (tls !== undefined) {
    const findings = await checkTlsFiles({ files: tls, role: "client", nowMs: clock.wallMs() });
    sections.push({ name: "our TLS files", findings });
    // With files that cannot be read, or that nobody can accept, a handshake would teach nothing new.
    if (findings.some(({ level }) => level === "broken")) return { sections, views: [], lags: new Map() };
  }
  const enough = new AbortController();
  const settled = servers.map(() => Promise.withResolvers<void>());
  const examining = servers.map((address, index) =>
    examineServer(address, {
      ...options,
      enough: enough.signal,
      onSettled: () => settled[index]?.resolve(),
    }),
  );
  await Promise.all(settled.map(({ promise }) => promise));
  await clock.sleep(observeMs);
  enough.abort();
  const examined = await Promise.all(examining);
  const views = examined.flatMap(({ view }) => (view?.status === syncStatus.inSync ? [view] : []));
  const lags = lagsOf(views);
  sections.push(...examined.map(({ section, view }) => withChanges(section, view, { lags, observeMs })));
  const comparison = compareServers(views, clock.monotonicMs());
  if (comparison.length > 0) sections.push({ name: "comparison", findings: comparison });
  return { sections, views, lags };
}

function withChanges(
  section: Section,
  view: ServerView | undefined,
  { lags, observeMs }: { lags: ReadonlyMap<ServerView, Lag>; observeMs: number },
): Section {
  if (view?.status !== syncStatus.inSync || observeMs === 0) return section;
  const lag = lags.get(view);
  const behind =
    lag === undefined
      ? ""
      : `; behind the first server to say so by ${lag.medianMs.toFixed(1)} ms (median), ${lag.mostMs.toFixed(1)} ms (most)`;
  const says = `${view.changeCount} changes in ${observeMs / 1000} s${behind}`;
  return { ...section, findings: [...section.findings, passed(says)] };
}
