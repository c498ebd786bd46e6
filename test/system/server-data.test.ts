// The original's data cases with a real Go client: what goes in comes out, per syncer, in order, and nothing else.
import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { FakeClock } from "../kit/fake-clock.ts";
import {
  digestOf,
  eventually,
  GoClients,
  lastKey,
  manyKeys,
  serve,
  untilLast,
  withoutGoClient,
} from "../kit/serving.ts";

const options = { skip: withoutGoClient };
const config = (name: string) => `/calico/v1/config/${name}`;

// Every kind of client that may be around at once, on one port.
const clientKinds: { name: string; flags: string[] }[] = [
  { name: "a modern client", flags: [] },
  { name: "a client without compression", flags: ["--no-compression"] },
  { name: "a client without decoder restart", flags: ["--no-restart"] },
  { name: "a client with zstd", flags: ["--zstd"] },
  { name: "a client up to v3.31", flags: ["--legacy-keys"] },
  { name: "a client like v3.20", flags: ["--legacy-keys", "--no-restart"] },
];

for (const workers of [0, 2]) {
  describe(`with ${workers} workers`, options, () => {
    for (const { name, flags } of clientKinds) {
      test(`passes KVs and status to ${name}`, options, async () => {
        await using server = await serve({ workers });
        server.set({ [config("before")]: "1" });
        await using client = new GoClients(server, flags);
        await client.until((events) => events.some(({ kv }) => kv?.key === config("before")), "the snapshot");
        server.status(1);
        await client.until((events) => events.some(({ status }) => status === 1), "resync");
        server.set({ [config("after")]: "2" });
        server.set({ [config("before")]: "3" }, { type: 2 });
        server.delete([config("after")]);
        server.status(2);
        await client.inSync();
        deepEqual(client.state, { [config("before")]: "3" });
        const hello = client.events[0]?.hello;
        equal(hello?.version, "test");
        equal(hello?.syncerType, "felix");
        equal(hello?.supportsNodeResourceUpdates, true);
        deepEqual(
          client.events.flatMap(({ status }) => status ?? []),
          [1, 2],
        );
        ok(client.kvs.every(({ revision, ttl }) => typeof revision === "string" && ttl === 0));
        equal(await client.close(), 0);
      });
    }
  });
}

test("chooses a port when it is given none", options, async () => {
  await using server = await serve();
  ok(server.address.port > 0);
});

test("a snapshot's keys are new and in-sync comes only after all of them", options, async () => {
  await using server = await serve();
  server.set(manyKeys(2500, () => "v"));
  server.set(
    manyKeys(10, () => "w"),
    { type: 2 },
  );
  server.status(2);
  await using client = new GoClients(server, []);
  await client.inSync();
  equal(client.kvs.length, 2500);
  ok(client.kvs.every(({ type }) => type === 1));
  equal(client.events.at(-1)?.status, 2);
});

const bgpKinds = [
  "/calico/v1/ipam/v4/pool/10.0.0.0-16",
  "/calico/bgp/v1/host/node-1/as_num",
  "/calico/bgp/v1/global/as_num",
  "/calico/resources/v3/projectcalico.org/nodes/node-1",
  "/calico/resources/v3/projectcalico.org/bgppeers/peer-1",
  "/calico/ipam/v2/host/node-1/ipv4/block/10.0.0.0-26",
];
for (const path of bgpKinds) {
  test(`BGP: passes ${path}, which does not leak into a felix client`, options, async () => {
    await using server = await serve();
    server.status(2);
    server.status(2, "bgp");
    await using bgp = new GoClients(server, ["--type", "bgp"]);
    await using felix = new GoClients(server, []);
    await Promise.all([bgp.inSync(), felix.inSync()]);
    server.set({ [path]: "value" }, { syncer: "bgp" });
    await bgp.until((events) => events.some(({ kv }) => kv?.key === path), "the key");
    // What felix is told next comes after whatever it might wrongly have been told.
    server.set({ [config("marker")]: "1" });
    await felix.until((events) => events.some(({ kv }) => kv?.key === config("marker")), "the marker");
    deepEqual(felix.state, { [config("marker")]: "1" });
    deepEqual(bgp.state, { [path]: "value" });
  });
}

test("felix and bgp together, and the two other syncers, on one port", options, async () => {
  await using server = await serve();
  const syncers = ["felix", "bgp", "tunnel-ip-allocation", "node-status"] as const;
  for (const syncer of syncers) {
    server.set({ [config(syncer)]: syncer }, { syncer });
    server.status(2, syncer);
  }
  for (const syncer of syncers) {
    await using client = new GoClients(server, ["--type", syncer]);
    await client.inSync();
    deepEqual(client.state, { [config(syncer)]: syncer });
  }
});

test("a client that names no syncer is served felix", options, async () => {
  await using server = await serve();
  server.status(2);
  await using client = new GoClients(server, ["--type", ""]);
  await client.inSync();
  equal(client.events[0]?.hello?.syncerType, "felix");
});

describe("deletions", options, () => {
  const cases: { name: string; delete: string[]; type?: 2 | 3; left: string[] }[] = [
    { name: "of a key", delete: ["/calico/v1/config/a"], left: ["/calico/v1/config/a/b", "/calico/v1/config/c"] },
    {
      name: "of a key below another",
      delete: ["/calico/v1/config/a/b"],
      left: ["/calico/v1/config/a", "/calico/v1/config/c"],
    },
    {
      name: "by an invalid value",
      delete: ["/calico/v1/config/c"],
      type: 2,
      left: ["/calico/v1/config/a", "/calico/v1/config/a/b"],
    },
  ];
  for (const { name, delete: paths, type = 3, left } of cases) {
    test(name, options, async () => {
      await using server = await serve();
      server.set({ [config("a")]: "1", [config("a/b")]: "1", [config("c")]: "1" });
      server.status(2);
      await using client = new GoClients(server, []);
      await client.inSync();
      server.delete(paths, { type });
      await client.until((events) => events.some(({ kv }) => kv?.value === null), "the deletion");
      deepEqual(Object.keys(client.state).sort(), left);
      equal(client.kvs.at(-1)?.type, type);
    });
  }
});

test("add 10,000 keys, delete half of them", options, async () => {
  await using server = await serve();
  server.status(2);
  await using client = new GoClients(server, []);
  await client.inSync();
  const keys = manyKeys(10_000, (index) => `${index}`);
  server.set(keys);
  await client.until((events) => events.length >= 10_000, "10,000 keys");
  const half = Object.keys(keys).filter((_, index) => index % 2 === 0);
  server.delete(half);
  await client.until(() => Object.keys(client.state).length === 5000, "half of them gone");
  for (const path of half) delete keys[path];
  deepEqual(client.state, keys);
});

test(
  "more keys go at once than deletions are remembered, and the server tidies up before they are published",
  options,
  async () => {
    const clock = new FakeClock();
    await using server = await serve({ clock });
    const keys = manyKeys(100_002, () => "v");
    server.set(keys);
    server.status(2);
    await clock.advance(500);
    await using client = new GoClients(server, ["--stats", "--digest", ...untilLast]);
    await client.inSync();
    await clock.advance(498);
    server.set({ "/calico/v1/config/other": "1" });
    await clock.advance(1);
    server.delete(Object.keys(keys)); // gathers, because something has just been published
    await clock.advance(1); // once a second deletions are forgotten
    await clock.advance(200);
    server.set({ [lastKey]: "x" });
    await clock.advance(200);
    const expected = digestOf(server.told);
    const stats = await client.statsAtLast();
    deepEqual(stats.states, { [expected]: 1 });
  },
);

test("1,000 KVs one by one", options, async () => {
  await using server = await serve();
  server.status(2);
  await using client = new GoClients(server, []);
  await client.inSync();
  const keys = manyKeys(1000, (index) => `value ${index}`);
  for (const [path, value] of Object.entries(keys)) server.set({ [path]: value });
  await client.until(() => client.kvs.length === 1000, "1,000 keys");
  deepEqual(client.state, keys);
});

test("the connection gauge follows clients, also one that is killed", options, async () => {
  await using server = await serve();
  server.status(2);
  await using first = new GoClients(server, []);
  await using second = new GoClients(server, []);
  await Promise.all([first.inSync(), second.inSync()]);
  equal(server.activeCount, 2);
  await eventually(() => server.metrics.get("typha_connections_streaming{felix}") === 2, "two streaming");
  equal(server.metrics.get("typha_connections_active"), 2);
  first.child.kill("SIGKILL");
  await eventually(() => server.metrics.get("typha_connections_streaming{felix}") === 1, "one streaming");
  equal(server.metrics.get("typha_connections_active"), 1);
  equal(server.metrics.get("typha_connections_accepted"), 2);
  await second.close();
  await eventually(() => server.activeCount === 0, "none left");
});

test("an update that repeats the value is skipped and counted", options, async () => {
  await using server = await serve();
  server.set({ [config("a")]: "1" });
  server.status(2);
  await using client = new GoClients(server, []);
  await client.inSync();
  server.set({ [config("a")]: "1" }, { type: 2 });
  server.delete([config("never there")]);
  server.set({ [config("b")]: "1" });
  await client.until(() => client.state[config("b")] === "1", "the next key");
  equal(client.kvs.length, 2);
  await eventually(() => server.metrics.get("typha_updates_skipped{felix}") === 2, "two skipped");
  equal(server.metrics.get("typha_updates_total{felix}"), 4);
});
