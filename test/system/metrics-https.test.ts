// Metrics over HTTPS whose certificate is replaced while it is served: the next connection sees the new one.
import { equal } from "node:assert/strict";
import { renameSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { test } from "node:test";
import type { TLSSocket } from "node:tls";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { createMetrics, metricsRoutes, startHttp } from "../../src/base/observe/index.ts";
import { admitHttpsPeers, httpsServerOptions, tlsPolicy, watchTlsFiles } from "../../src/base/security/index.ts";
import { certificateFolder, testAuthority } from "../kit/certificates.ts";

test("a replaced certificate is served to the next scrape", async () => {
  const authority = testAuthority();
  using files = certificateFolder(authority);
  const { signal } = new AbortController();
  const clock = systemClock;
  await using watcher = await watchTlsFiles(files.server, { role: "server", log: silentLog, clock, debounceMs: 10 });
  const policy = tlsPolicy();
  const mode = "RequireAndVerifyClientCert";
  await using server = startHttp({
    name: "metrics",
    host: "localhost",
    port: 0,
    routes: metricsRoutes(
      createMetrics({ table: {}, clock, labels: {}, includesProcess: false, includesRuntime: false }),
    ),
    tls: {
      options: httpsServerOptions(watcher.state().material, policy, mode),
      prepare: (one) => admitHttpsPeers(one, mode),
    },
    clock,
    log: silentLog,
    signal,
  });
  await server.listening;
  const client = authority.client();
  const scrape = () =>
    new Promise<string>((resolve, reject) => {
      const port = server.addresses[0]?.port;
      const own = { cert: client.certPem, key: client.keyPem, ca: authority.pair.certPem, agent: false };
      const asked = request({ host: "127.0.0.1", path: "/metrics", port, ...own }, (response) => {
        equal(response.statusCode, 200);
        const serial = (response.socket as TLSSocket).getPeerX509Certificate()?.serialNumber ?? "";
        response.resume().on("end", () => resolve(serial.toLowerCase()));
      });
      asked.on("error", reject).end();
    });
  equal(await scrape(), watcher.state().material.certificate.serial);
  const next = authority.server();
  for (const [name, text] of [
    ["typha.key", next.keyPem],
    ["typha.crt", next.certPem],
  ] as const) {
    writeFileSync(join(files.folder, `${name}.new`), text);
    renameSync(join(files.folder, `${name}.new`), join(files.folder, name));
  }
  for await (const material of watcher.changes()) {
    server.setTls(httpsServerOptions(material, policy, mode));
    break;
  }
  equal(watcher.state().material.cert, next.certPem);
  equal(await scrape(), watcher.state().material.certificate.serial);
});
