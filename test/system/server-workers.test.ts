// Worker threads: connections spread over them, one that dies is replaced on the same port, and nobody else notices.
import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { eventually, GoClients, manyKeys, serve, withoutGoClient } from "../kit/serving.ts";

const options = { skip: withoutGoClient };

test("the kernel spreads connections over the workers", options, async () => {
  await using server = await serve({ workers: 2 });
  server.status(2);
  await using clients = new GoClients(server, ["--clients", "100", "--stats"]);
  await clients.inSync(100);
  const workers = (await server.clients()).map(({ worker }) => worker);
  deepEqual([...new Set(workers)].sort(), [1, 2]);
});

test("a report of a client says who it is, how far it is and what it has cost", options, async () => {
  await using server = await serve({ workers: 1 });
  server.set(manyKeys(100, () => "v"));
  server.status(2);
  const flags = ["--hostname", "node-a", "--info", "felix", "--client-version", "v9", "--zstd"];
  await using client = new GoClients(server, flags);
  await client.inSync();
  const [report] = await server.clients();
  const { node, syncer, version, info, phase, compression, policyKeys, restartsDecoder, lagUpdates, position } =
    report ?? {};
  deepEqual(
    { node, syncer, version, info, phase, compression, policyKeys, restartsDecoder, lagUpdates, position },
    {
      node: "node-a",
      syncer: "felix",
      version: "v9",
      info: "felix",
      phase: "streaming",
      compression: "zstd",
      policyKeys: "modern",
      restartsDecoder: true,
      lagUpdates: 0,
      position: 100,
    },
  );
  ok((report?.bytesSent ?? 0) > 0);
  ok(Math.abs((report?.connectedAtMs ?? 0) - Date.now()) < 60_000);
});

test("a worker that dies is replaced; its clients can come back, the others stay", options, async (context) => {
  // The real worker, with a way to kill it: a connection whose hello names the node "poison" throws outside any handler.
  const folder = mkdtempSync(join(tmpdir(), "cattail-worker-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const worker = pathToFileURL(join(process.cwd(), "src/typha/server/threads/worker.ts")).href;
  const entry = join(folder, "entry.mjs");
  writeFileSync(
    entry,
    `import { parentPort } from "node:worker_threads";
     await import(${JSON.stringify(worker)});
     const post = parentPort.postMessage.bind(parentPort);
     parentPort.postMessage = (messages) => {
       const isPoison = ({ is, fields }) => is === "log" && fields?.node === "poison";
       if (messages.some(isPoison)) setImmediate(() => { throw new Error("poisoned"); });
       post(messages);
     };`,
  );
  await using server = await serve({ workers: 2, workerEntry: pathToFileURL(entry) });
  server.status(2);
  await using clients = new GoClients(server, ["--clients", "50", "--stats", "--stats-every", "50ms"]);
  await clients.inSync(50);
  await eventually(() => server.metrics.get("typha_connections_streaming{felix}") === 50, "50 streaming");
  await using poison = new GoClients(server, ["--hostname", "poison", "--stats"]);
  equal((await poison.exited) !== null, true);
  await eventually(() => server.lines.some(({ message }) => message.startsWith("worker thread died")), "it died");
  await eventually(() => server.activeCount > 0 && server.activeCount < 50, "the other worker's clients stay");
  const staying = server.activeCount;
  await eventually(() => server.metrics.get("typha_connections_active") === staying, "the gauge follows");
  server.set({ "/calico/v1/config/after": "1" });
  await clients.until(
    (events) => (events.at(-1)?.stats?.kvs ?? 0) >= staying || undefined,
    "an update to those who stay",
  );
  // Both workers take connections again: enough of them that the kernel cannot have sent all to one.
  await eventually(async () => {
    await using more = new GoClients(server, ["--clients", "40", "--stats"]);
    await more
      .until((events) => events.some(({ allInSync }) => allInSync === 40) || undefined, "in-sync", 5000)
      .catch(() => false);
    return new Set((await server.clients()).map((report) => report.worker)).size === 2;
  }, "both workers serve");
});
