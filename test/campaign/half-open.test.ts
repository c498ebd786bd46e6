// Campaign: connections that never finish their handshake hold nobody up and are gone at its deadline.
// Whole: npm run campaign:half-open (20,000 of them; a good client in under 1 s; all gone by 12 s).
import { equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { startCattail } from "../../bench/fanout/subjects.ts";
import { isLong, say, size } from "../kit/campaign.ts";
import { certificateFolder } from "../kit/certificates.ts";
import { eventually } from "../kit/eventually.ts";
import { GoClients, withoutGoClient } from "../kit/go-clients.ts";
import { openFiles, withoutProc } from "../kit/process-facts.ts";
import { RawSockets } from "../kit/raw-sockets.ts";

// Side by side where nothing is measured: most of it is waiting for the handshake's deadline.
describe("half-open connections", { skip: withoutGoClient || withoutProc, concurrency: isLong ? 1 : 2 }, () => {
  // Silent ones, and ones that have begun a TLS record, for which the server holds TLS state.
  for (const { name, firstBytes, perProcess } of [
    { name: "silent", firstBytes: "", perProcess: size({ short: 1500, long: 10_000 }) },
    { name: "dripping", firstBytes: "1603010200010001fc0303", perProcess: size({ short: 500, long: 2500 }) },
  ]) {
    test(`2 × ${perProcess} ${name} connections`, async () => {
      using folder = certificateFolder();
      const tls = { ca: folder.server.caFile, cert: folder.server.certFile, key: folder.server.keyFile };
      const flags = ["--ca", folder.client.caFile, "--cert", folder.client.certFile, "--key", folder.client.keyFile];
      await using server = await startCattail({ workers: 2, tls });
      await server.setInSync();
      const baseline = openFiles(server.pid);
      await using first = new RawSockets(server.port, { count: perProcess, firstBytes });
      await using second = new RawSockets(server.port, { count: perProcess, firstBytes });
      await eventually(() => first.report.opened + second.report.opened === 2 * perProcess, "all opened", 120_000);
      const openedMs = performance.now();
      await using good = new GoClients({ address: server }, [...flags, "--until-in-sync"]);
      equal(await good.exited, 0, good.stderr);
      const goodMs = performance.now() - openedMs;
      await eventually(
        () => openFiles(server.pid) <= baseline,
        () => `${openFiles(server.pid)} files open`,
        60_000,
      );
      const goneMs = performance.now() - openedMs;
      say(name, {
        connections: 2 * perProcess,
        goodMs,
        goneMs,
        rssMb: server.use().rssMb,
        peakRssMb: server.use().peakRssMb,
      });
      if (isLong) ok(goodMs < 1000 && goneMs < 12_000);
    });
  }
});
