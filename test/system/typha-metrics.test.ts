// The metrics of a whole Typha: that they count its clients and nobody else, and that they never keep it from serving.
import { equal, match, ok } from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { connect } from "node:net";
import { test } from "node:test";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { createTyphaMetrics, startTypha } from "../../src/typha/server/index.ts";
import { loadSettings } from "../../src/typha/settings/index.ts";
import { certificateFolder } from "../kit/certificates.ts";
import { eventually } from "../kit/eventually.ts";
import { freePort } from "../kit/free-port.ts";
import { recordLog } from "../kit/recorded-log.ts";
import { tlsSettings, typhaSettings } from "../kit/typha-settings.ts";

const options = { timeout: 300_000 };
/** Whoever tries again every five seconds does so at once. */
const clock = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms === 5000 ? 50 : ms, signal),
};

const clients = 3;
for (const { workers, tls } of [
  { workers: "0", tls: false },
  { workers: "0", tls: true },
  { workers: "2", tls: false },
  { workers: "2", tls: true },
]) {
  const how = `${workers} workers, ${tls ? "TLS" : "no TLS"}`;
  test(`connections from elsewhere are counted, and our own dials are not (${how})`, options, async () => {
    using certificates = certificateFolder();
    const more = tls ? tlsSettings(certificates) : {};
    const environment = await typhaSettings({ TYPHA_WORKERS: workers, ...more });
    const read = loadSettings({ environment, configFile: "" });
    const metrics = createTyphaMetrics(read.values, { clock: systemClock });
    const { signal } = new AbortController();
    const of = { read, version: "test", log: silentLog, metrics, signal };
    await using typha = await startTypha(of);
    await eventually(() => typha.health.summary().ready, "a dial that was answered");
    const sockets = Array.from({ length: clients }, () => connect(typha.server.address.port, "127.0.0.1"));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    for (const socket of sockets) socket.destroy();
    const reason = tls ? "FANOUT_TLS" : "WIRE_PEER_CLOSED";
    const counted = async () => {
      const text = await metrics.text();
      const value = (name: string) =>
        Number(
          text
            .split("\n")
            .find((line) => line.startsWith(`${name} `))
            ?.slice(name.length),
        );
      return [value("typha_connections_accepted"), value(`cattail_connections_closed_total{reason="${reason}"}`)];
    };
    // Of a dial that is under way the one or the other may be missing yet; more than came from elsewhere are never there.
    await eventually(async () => {
      const [accepted = 0, closed = 0] = await counted();
      ok(accepted <= clients && closed <= clients, `${accepted} accepted, ${closed} closed`);
      return accepted === clients && closed === clients;
    }, "what came from elsewhere");
  });
}

test("metrics files that cannot be used keep only the metrics away, and only while they are so", options, async () => {
  using certificates = certificateFolder();
  const { certFile, keyFile, caFile } = certificates.server;
  const good = readFileSync(certFile);
  writeFileSync(certFile, "");
  const port = await freePort();
  const environment = await typhaSettings({
    TYPHA_PROMETHEUSMETRICSENABLED: "true",
    TYPHA_PROMETHEUSMETRICSHOST: "127.0.0.1",
    TYPHA_PROMETHEUSMETRICSPORT: `${port}`,
    TYPHA_PROMETHEUSMETRICSCERTFILE: certFile,
    TYPHA_PROMETHEUSMETRICSKEYFILE: keyFile,
    TYPHA_PROMETHEUSMETRICSCAFILE: caFile,
    TYPHA_PROMETHEUSMETRICSCLIENTAUTH: "NoClientCert",
  });
  const { log, lines } = recordLog();
  const { signal } = new AbortController();
  const read = loadSettings({ environment, configFile: "" });
  await using typha = await startTypha({ read, version: "test", log, clock, signal });
  await eventually(() => typha.health.summary().ready, "a Typha that serves");
  equal(typha.httpAddresses.metrics, undefined);
  const said = () => lines.filter(({ message }) => message.startsWith("Metrics cannot be served"));
  await eventually(() => said().length > 0, "a line that says so");
  match(String(said()[0]?.fields.problem), /typha\.crt/);
  writeFileSync(`${certFile}.new`, good);
  renameSync(`${certFile}.new`, certFile);
  await eventually(async () => (await scrapeStatus(port)) === 200, "metrics, once their files are usable");
  equal(said().length, 1);
});

function scrapeStatus(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const to = { host: "127.0.0.1", port, path: "/metrics", rejectUnauthorized: false, agent: false };
    const asked = request(to, (response) => response.resume().on("end", () => resolve(response.statusCode)));
    asked.on("error", () => resolve(undefined)).end(); // nobody listens yet
  });
}
