// Campaign: clients that stop reading in the middle of a 10 MB snapshot cost a bounded amount of memory, and those that read
// do not notice. Whole: npm run campaign:stalled (1,000 stalled clients, at most 256 MB resident).
import { ok } from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { Clients, endpoint, nowNanos } from "../../bench/fanout/load.ts";
import { startCattail } from "../../bench/fanout/subjects.ts";
import { isLong, say, size } from "../kit/campaign.ts";
import { certificateFolder } from "../kit/certificates.ts";
import { eventually } from "../kit/eventually.ts";
import { GoClients, withoutGoClient } from "../kit/go-clients.ts";
import { untilSilent, withoutProc } from "../kit/process-facts.ts";

const stalledCount = size({ short: 100, long: 1000 });
const healthyCount = 20;
const roundCount = size({ short: 10, long: 50 });
// Values that no compressor makes smaller, so that the snapshot is 10 MB on the wire.
const keys = 10_000;
const value = () => randomBytes(720).toString("base64");

test(`${stalledCount} clients stalled in a 10 MB snapshot`, { skip: withoutGoClient || withoutProc }, async () => {
  using folder = certificateFolder();
  const tls = { ca: folder.server.caFile, cert: folder.server.certFile, key: folder.server.keyFile };
  const flags = ["--ca", folder.client.caFile, "--cert", folder.client.certFile, "--key", folder.client.keyFile];
  // Each worker thread beyond the first adds about 16 MB, clients or not.
  await using server = await startCattail({ workers: 1, tls });
  for (let start = 0; start < keys; start += 100) {
    await server.apply(
      Array.from({ length: 100 }, (_, index) => ({ ...endpoint(start + index), value: JSON.stringify(value()) })),
    );
  }
  await server.setInSync();
  await using healthy = new Clients(server, healthyCount, flags);
  await healthy.inSync();
  const before = await rounds();
  const stall = [
    "--stall-at",
    "snapshot",
    "--stats",
    "--stats-every",
    "100ms",
    "--timeout",
    "600s",
    "--connect-rate",
    "100",
  ];
  await using stalled = new GoClients({ address: server }, ["--clients", `${stalledCount}`, ...stall, ...flags]);
  await stalled.until(
    (events) => (events.at(-1)?.stats?.connected ?? 0) >= stalledCount || undefined,
    "all stalled clients connected",
    120_000,
  );
  await untilSilent(server.pid); // the kernel's buffers are full
  const after = await rounds();
  const { rssMb, peakRssMb } = server.use();
  const p99 = (await healthy.close()).latencyMs?.p99 ?? Number.NaN;
  say("in a 10 MB snapshot", { stalled: stalledCount, beforeMs: before, p99Ms: p99, roundMs: after, rssMb, peakRssMb });
  ok(peakRssMb <= 256, `peak RSS ${peakRssMb} MB with ${stalledCount} stalled clients`);
  ok(!isLong || after < 2 * before + 50, `healthy clients waited ${after} ms, ${before} ms before`);

  /** Updates to the healthy clients; the slowest round until all have them, in milliseconds. */
  async function rounds(): Promise<number> {
    let slowestMs = 0;
    for (let round = 0; round < roundCount; round += 1) {
      const received = healthy.last?.kvs ?? 0;
      const startMs = performance.now();
      await server.apply([endpoint(round, { sentNanos: nowNanos(), type: 2 })]);
      const wanted = received + healthyCount;
      await eventually(() => (healthy.last?.kvs ?? 0) >= wanted, "every healthy client is told", 120_000);
      slowestMs = Math.max(slowestMs, performance.now() - startMs);
    }
    return slowestMs;
  }
});
