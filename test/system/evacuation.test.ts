// Two servers on one etcd, each behind a proxy. One is cut off: every client has to end up on the other, and none may be
// without a server for long. Then the proxy lets it back in, and clients are welcome again.
import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../src/base/lib/index.ts";
import { syncStatus } from "../../src/calico/model/index.ts";
import { follow } from "../../src/typha/client/index.ts";
import { startTypha, type Typha } from "../../src/typha/server/index.ts";
import { readSettings } from "../../src/typha/settings/index.ts";
import { type CertificateFolder, certificateFolder } from "../kit/certificates.ts";
import { etcdMissing, startEtcd } from "../kit/etcd.ts";
import { eventually } from "../kit/eventually.ts";
import { startProxy } from "../kit/proxy.ts";

const missing = await etcdMissing();
const skip = missing === undefined ? {} : { skip: missing };

test("a server that loses its datastore hands every client to the healthy one", {
  ...skip,
  timeout: 300_000,
}, async () => {
  using certificates = certificateFolder();
  await using etcd = await startEtcd();
  const [member] = etcd.members;
  await using proxyA = await startProxy(member?.port ?? 0);
  await using proxyB = await startProxy(member?.port ?? 0);
  const stop = new AbortController();
  // Whatever an assertion says, clients and servers end with the test.
  using _ = { [Symbol.dispose]: () => stop.abort() };
  await using b = await startOne({ etcdPort: proxyB.port, certificates, signal: stop.signal, peers: "" });
  await using a = await startOne({
    etcdPort: proxyA.port,
    certificates,
    signal: stop.signal,
    peers: `127.0.0.1:${b.server.address.port}`,
  });
  await eventually(() => a.health.summary().ready && b.health.summary().ready, "both servers ready");

  const nodes = Array.from({ length: 20 }, (_, index) =>
    followAs(`node-${index}`, { a, b, certificates, signal: stop.signal }),
  );
  await eventually(() => nodes.every((node) => node.isInSync), "all clients in sync");
  equal((await a.server.clients()).length + (await b.server.clients()).length >= nodes.length, true);

  proxyA.refuse();
  proxyA.cut();
  await eventually(async () => {
    const onB = new Set((await b.server.clients()).map(({ node }) => node));
    return nodes.every((node) => node.isInSync && onB.has(node.name)) && (await a.server.clients()).length === 0;
  }, "every client on the healthy server");
  await eventually(() => !a.health.summary().ready, "it is not ready");
  for (const node of nodes)
    ok(node.longestGapMs < 30_000, `${node.name} was without a server for ${node.longestGapMs} ms`);

  proxyA.accept();
  await eventually(() => a.health.summary().ready, "the server is welcome again");
  stop.abort();
  await Promise.all(nodes.map((node) => node.done));
});

test("a server without a healthy peer keeps serving what it has", { ...skip, timeout: 300_000 }, async () => {
  using certificates = certificateFolder();
  await using etcd = await startEtcd();
  await using proxy = await startProxy(etcd.members[0]?.port ?? 0);
  const stop = new AbortController();
  using _ = { [Symbol.dispose]: () => stop.abort() };
  await using a = await startOne({ etcdPort: proxy.port, certificates, signal: stop.signal, peers: "127.0.0.1:1" });
  await eventually(() => a.health.summary().ready, "ready");
  const node = followAs("node-0", { a, b: a, certificates, signal: stop.signal });
  await eventually(() => node.isInSync, "in sync");
  proxy.refuse();
  proxy.cut();
  const says = () => a.health.summary().components.find(({ name }) => name === "datastore")?.detail;
  await eventually(() => says() === "stale, no healthy peer", "it says that it is stale");
  equal(a.health.summary().ready, true);
  equal((await a.server.clients()).length, 1);
  stop.abort();
  await node.done;
});

type StartOne = { etcdPort: number; certificates: CertificateFolder; signal: AbortSignal; peers: string };

async function startOne({ etcdPort, certificates, signal, peers }: StartOne): Promise<Typha> {
  const { certFile, keyFile, caFile } = certificates.server;
  const environment = {
    TYPHA_DATASTORETYPE: "etcdv3",
    TYPHA_ETCDENDPOINTS: `http://127.0.0.1:${etcdPort}`,
    TYPHA_SERVERHOST: "127.0.0.1",
    TYPHA_SERVERCERTFILE: certFile,
    TYPHA_SERVERKEYFILE: keyFile,
    TYPHA_CAFILE: caFile,
    TYPHA_CLIENTCN: "calico-node",
    TYPHA_WORKERS: "0",
    TYPHA_STALESERVERTIMEOUTSECS: "3",
    TYPHA_PEERADDRESSES: peers,
  };
  const read = readSettings({ environment, checks: { exists: () => true } });
  equal(read.problems.join(), "");
  // The settings know no "any free port": 0 means 5473 there, as in the original.
  return startTypha({
    read: { ...read, values: { ...read.values, serverPort: 0 } },
    version: "test",
    log: silentLog,
    signal,
  });
}

function followAs(name: string, on: { a: Typha; b: Typha; certificates: CertificateFolder; signal: AbortSignal }) {
  const servers = [on.a, on.b].map(({ server }) => `127.0.0.1:${server.address.port}`);
  const state = { name, isInSync: false, longestGapMs: 0, done: Promise.resolve() };
  let lostAtMs: number | undefined;
  const run = async () => {
    const tls = { ...on.certificates.client, server: { commonName: "calico-typha" } };
    for await (const update of follow({ servers, hostname: name, tls, signal: on.signal })) {
      if (update.is !== "status") continue;
      state.isInSync = update.status === syncStatus.inSync;
      if (state.isInSync && lostAtMs !== undefined)
        state.longestGapMs = Math.max(state.longestGapMs, performance.now() - lostAtMs);
      lostAtMs = state.isInSync ? undefined : (lostAtMs ?? performance.now());
    }
  };
  state.done = run();
  return state;
}
