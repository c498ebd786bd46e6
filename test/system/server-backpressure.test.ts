// Clients that read slowly or not at all: they cost only themselves, their backlog merges, and none of them sees a value go
// back or a deleted key return.
import { deepEqual, equal, ok } from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import {
  digestOf,
  eventually,
  GoClients,
  lastKey,
  manyKeys,
  serve,
  type TestServer,
  untilLast,
  withoutGoClient,
} from "../kit/serving.ts";

const options = { skip: withoutGoClient };
// More than the kernel's buffers of one connection take, and nothing that a compressor makes smaller, so that a client
// which does not read really blocks.
const keys = 4_000;
const noise = Array.from({ length: keys }, () => randomBytes(1_800).toString("base64"));
const bigKeys = (seq: number) => manyKeys(keys, (index) => `{"seq":${seq},"n":${index},"f":"${noise[index]}"}`);
const rounds = [bigKeys(1), bigKeys(2)];

const stallInSnapshot = ["--stall-at", "snapshot"];
const stallInSync = ["--stall-at", "sync", "--stats", "--digest", ...untilLast];
const isBlocked = async (server: TestServer) => (await server.clients()).some(({ queuedBytes }) => queuedBytes > 0);

/** Changes every key again and again until a client has heard nothing of it for a while; answers how often. */
async function overtake(server: TestServer): Promise<number> {
  let seq = 0;
  await eventually(async () => {
    seq += 1;
    server.set(rounds[seq % 2] ?? {}, { type: 2 });
    return (await server.clients()).some(({ lagMs }) => lagMs > 200);
  }, "the client is behind");
  return seq;
}

const kinds = [
  { name: "with restart", flags: [] },
  { name: "without restart", flags: ["--no-restart"] },
];

for (const workers of [0, 1]) {
  describe(`${workers} workers`, options, () => {
    for (const { name, flags } of kinds) {
      test(
        `a client that blocks during the snapshot (${name}) is cut at the write timeout; others are not delayed`,
        options,
        async () => {
          await using server = await serve({ workers, limits: { writeTimeoutMs: 2000 } });
          server.set(bigKeys(0));
          server.status(2);
          await using _blocked = new GoClients(server, [...flags, ...stallInSnapshot]);
          await eventually(() => isBlocked(server), "blocked");
          await using good = new GoClients(server, ["--stats"]);
          await good.inSync();
          await eventually(() => server.lines.some(({ fields }) => fields.code === "FANOUT_WRITE_TIMEOUT"), "cut");
          await eventually(() => server.activeCount === 1, "the other is still there");
        },
      );

      test(
        `a client that blocks during the snapshot (${name}) and reads on in time is kept and ends right`,
        options,
        async () => {
          await using server = await serve({ workers });
          server.set(bigKeys(0));
          server.status(2);
          await using slow = new GoClients(server, [...flags, ...stallInSnapshot, "--stats", "--digest", ...untilLast]);
          await eventually(() => isBlocked(server), "blocked");
          server.set(rounds[0] ?? {}, { type: 2 });
          server.delete(Object.keys(rounds[0] ?? {}).slice(0, keys / 2));
          slow.readOn();
          await slow.inSync();
          server.set({ [lastKey]: "x" });
          const expected = digestOf(server.told);
          const stats = await slow.statsAtLast();
          deepEqual(stats.states, { [expected]: 1 });
          equal(stats.backwards, 0);
        },
      );
    }

    test("behind after the grace: its backlog is merged, and it is not cut", options, async () => {
      const limits = { maxFallBehindMs: 50, newClientGraceMs: 0 };
      await using server = await serve({ workers, limits });
      server.set(bigKeys(0));
      server.status(2);
      await using slow = new GoClients(server, stallInSync);
      await slow.inSync();
      const sentMeanwhile = (await overtake(server)) * keys;
      slow.readOn();
      await eventually(
        () => server.lines.some(({ message }) => message.startsWith("client is far behind")),
        "the log says so",
      );
      server.set({ [lastKey]: "x" });
      const expected = digestOf(server.told);
      const stats = await slow.statsAtLast();
      deepEqual(stats.states, { [expected]: 1 });
      ok(stats.kvs - keys < sentMeanwhile, `${stats.kvs} updates received of ${sentMeanwhile} made`);
      equal(server.metrics.get("typha_connections_grace_used{felix}"), 0);
    });

    test("behind within the grace after the snapshot: counted", options, async () => {
      await using server = await serve({ workers, limits: { maxFallBehindMs: 50, newClientGraceMs: 60_000 } });
      server.set(bigKeys(0));
      server.status(2);
      await using slow = new GoClients(server, stallInSync);
      await slow.inSync();
      await overtake(server);
      slow.readOn();
      await eventually(() => server.metrics.get("typha_connections_grace_used{felix}") === 1, "grace used");
      equal(server.activeCount, 1);
    });
  });
}

test("one key updated 10,000 times behind a client's back costs it far fewer updates", options, async () => {
  await using server = await serve({});
  server.set(bigKeys(0));
  server.status(2);
  await using slow = new GoClients(server, stallInSync);
  await slow.inSync();
  server.set(bigKeys(1), { type: 2 }); // fills the pipe
  for (let seq = 0; seq < 10_000; seq += 1) {
    server.set({ "/calico/v1/config/hot": `{"seq":${seq}}` }, { type: seq === 0 ? 1 : 2 });
    if (seq % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  server.set({ [lastKey]: "x" });
  slow.readOn();
  const expected = digestOf(server.told);
  const stats = await slow.statsAtLast();
  deepEqual(stats.states, { [expected]: 1 });
  ok(stats.kvs < 2 * keys + 1000, `${stats.kvs} updates`);
});
