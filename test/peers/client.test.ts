// follow() against Go's own gob, snappy and crypto/tls.
import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import type { FollowOptions } from "../../src/typha/client/index.ts";
import { certificateFolder } from "../kit/certificates.ts";
import { Followed } from "../kit/followed.ts";
import { withoutGoServer as skip, startGoServer } from "../kit/go-server.ts";

const snapshot = Array.from({ length: 2500 }, (_, index) => ({
  key: `/calico/v1/config/key-${String(index).padStart(5, "0")}`,
  value: `value ${index} ${"ü".repeat(index % 300)}`,
  revision: `${index}`,
  v3rv: "",
  ttl: 0,
  type: 1,
}));
const expected = new Map(snapshot.map(({ key, value }) => [key, value]));

const variants: { name: string; options: Partial<FollowOptions> }[] = [
  { name: "compressed", options: {} },
  { name: "without compression", options: { compression: [] } },
  { name: "that does not know zstd, though we would like it", options: { compression: ["zstd", "snappy"] } },
  { name: "as bgp", options: { type: "bgp" } },
];
for (const { name, options } of variants) {
  for (const isTls of [false, true]) {
    test(`we follow a Go server ${name}, ${isTls ? "over mutual TLS" : "in the clear"}`, { skip }, async () => {
      using folder = certificateFolder();
      const { certFile, keyFile, caFile } = folder.server;
      const flags = isTls ? ["--cert", certFile, "--key", keyFile, "--ca", caFile] : [];
      await using go = await startGoServer(["--ping-interval", "50ms", ...flags]);
      go.say({ kvs: snapshot, status: 2 });
      const tls = { ...folder.client, server: { commonName: "calico-typha" } };
      await using client = new Followed({ servers: go.address, ...options, ...(isTls ? { tls } : {}) });
      await client.inSync();
      deepEqual(client.state, expected);
      go.say({ kv: { key: "/calico/v1/config/key-00002", value: null, revision: "", v3rv: "", ttl: 0, type: 3 } });
      go.say({ kv: { key: "/calico/v1/config/new", value: "new", revision: "9", v3rv: "", ttl: 0, type: 1 } });
      await client.until(() => client.state.has("/calico/v1/config/new"), "the new key");
      equal(client.state.has("/calico/v1/config/key-00002"), false);
      deepEqual(client.statuses, [1, 2]);
    });
  }
}

const names: { name: string; server: { commonName?: string; uriSan?: string }; isRefused: boolean }[] = [
  { name: "its common name", server: { commonName: "calico-typha" }, isRefused: false },
  { name: "another common name", server: { commonName: "typha" }, isRefused: true },
  {
    name: "its URI SAN",
    server: { uriSan: "spiffe://cluster.local/ns/kube-system/sa/calico-typha" },
    isRefused: false,
  },
  {
    name: "another common name, but its URI SAN",
    server: { commonName: "typha", uriSan: "spiffe://cluster.local/ns/kube-system/sa/calico-typha" },
    isRefused: false,
  },
  { name: "two wrong names", server: { commonName: "x", uriSan: "spiffe://x" }, isRefused: true },
];
for (const { name, server, isRefused } of names) {
  test(`a server from which we ask ${name} is ${isRefused ? "refused" : "taken"}`, { skip }, async () => {
    using folder = certificateFolder();
    const { certFile, keyFile, caFile } = folder.server;
    await using go = await startGoServer(["--cert", certFile, "--key", keyFile, "--ca", caFile]);
    go.say({ status: 2 });
    await using client = new Followed({ servers: go.address, tls: { ...folder.client, server }, maxFailures: 1 });
    if (!isRefused) return await client.inSync();
    await waitForFailure(client);
    match(String(client.failure), /does not have the required/);
  });
}

const refusals: { name: string; flags: string[]; code: RegExp }[] = [
  { name: "that answers for another syncer", flags: ["--answer-type", "bgp"], code: /WIRE_SYNCER_MISMATCH/ },
  { name: "older than v3.9", flags: ["--no-node-updates"], code: /WIRE_OLD_SERVER/ },
];
for (const { name, flags, code } of refusals) {
  test(`we leave a Go server ${name}, and say why`, { skip }, async () => {
    await using go = await startGoServer(flags);
    await using client = new Followed({ servers: go.address, maxFailures: 1 });
    await waitForFailure(client);
    match(String(client.failure), code);
  });
}

test("when a Go server goes, the next one takes over without a word about what both have", { skip }, async () => {
  await using second = await startGoServer();
  second.say({ kvs: [...snapshot.slice(0, 100), { ...snapshot[100], value: "changed meanwhile" }], status: 2 });
  const first = await startGoServer();
  first.say({ kvs: snapshot.slice(0, 102), status: 2 });
  await using client = new Followed({ servers: [first.address, second.address] });
  await client.inSync();
  equal(client.state.size, 102);
  const before = client.updates.length;
  await first[Symbol.asyncDispose]();
  await client.inSync(2);
  const after = client.updates.slice(before);
  deepEqual(
    after.flatMap((update) => (update.is === "set" ? [] : [update])),
    [
      { is: "status", status: 0 },
      { is: "status", status: 1 },
      { is: "delete", path: "/calico/v1/config/key-00101", why: "gone" },
      { is: "status", status: 2 },
    ],
  );
  equal(
    after.every((update) => update.is !== "set" || !update.isNew),
    true,
  );
  equal(client.state.get("/calico/v1/config/key-00100"), "changed meanwhile");
});

async function waitForFailure(client: Followed): Promise<void> {
  await client.until(() => client.failure !== undefined, "a failure").catch(() => undefined); // that is what we want
}
