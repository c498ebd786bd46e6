// Clients that read slowly or not at all: they cost only themselves, their backlog merges, and none of them sees a value go
// back or a deleted key return.
import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
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
const filler = "x".repeat(2000);
// More than the kernel's buffers of one connection take, so that a client which does not read really blocks.
const bigKeys = (seq: number) =>
  manyKeys(10_000, (index) => `{"seq":${seq},"n":${index},"f":"${filler}${noise(index)}"}`);

const rounds = [bigKeys(1), bigKeys(2)];

// Text that compresses badly, or 20 MB of filler would fit into a socket buffer.
function noise(index: number): string {
  let state = index + 1;
  let text = "";
  for (let word = 0; word < 120; word += 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    text += state.toString(36);
  }
  return text;
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
          await using server = await serve({ workers, limits: { writeTimeoutMs: 1000 } });
          server.set(bigKeys(0));
          server.status(2);
          await using _blocked = new GoClients(server, [...flags, "--stall-at", "snapshot"]);
          await eventually(async () => (await server.clients()).some(({ queuedBytes }) => queuedBytes > 0), "blocked");
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
          const slowFlags = [
            ...flags,
            "--stall-at",
            "snapshot",
            "--stall-for",
            "500ms",
            "--stats",
            "--digest",
            ...untilLast,
          ];
          await using slow = new GoClients(server, slowFlags);
          await eventually(async () => (await server.clients()).some(({ queuedBytes }) => queuedBytes > 0), "blocked");
          server.set(bigKeys(1), { type: 2 });
          server.delete(Object.keys(bigKeys(1)).slice(0, 5000));
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
      await using slow = new GoClients(server, [
        "--stall-at",
        "sync",
        "--stall-for",
        "4s",
        "--stats",
        "--digest",
        ...untilLast,
      ]);
      await slow.inSync();
      let seq = 0;
      await eventually(async () => {
        seq += 1;
        server.set(rounds[seq % 2] ?? {}, { type: 2 });
        return (await server.clients()).some(({ lagMs }) => lagMs > 200);
      }, "the client is behind");
      const sentMeanwhile = seq * 10_000;
      await eventually(
        () => server.lines.some(({ message }) => message.startsWith("client is far behind")),
        "the log says so",
      );
      server.set({ [lastKey]: "x" });
      const expected = digestOf(server.told);
      const stats = await slow.statsAtLast();
      deepEqual(stats.states, { [expected]: 1 });
      ok(stats.kvs - 10_000 < sentMeanwhile, `${stats.kvs} updates received of ${sentMeanwhile} made`);
      equal(server.metrics.get("typha_connections_grace_used{felix}"), 0);
    });

    test("behind within the grace after the snapshot: counted", options, async () => {
      await using server = await serve({ workers, limits: { maxFallBehindMs: 50, newClientGraceMs: 60_000 } });
      server.set(bigKeys(0));
      server.status(2);
      await using slow = new GoClients(server, ["--stall-at", "sync", "--stall-for", "4s", "--stats"]);
      await slow.inSync();
      let seq = 0;
      await eventually(async () => {
        seq += 1;
        server.set(rounds[seq % 2] ?? {}, { type: 2 });
        return (await server.clients()).some(({ lagMs }) => lagMs > 200);
      }, "the client is behind");
      await eventually(() => server.metrics.get("typha_connections_grace_used{felix}") === 1, "grace used");
      equal(server.activeCount, 1);
    });
  });
}

test("one key updated 10,000 times behind a client's back costs it far fewer updates", options, async () => {
  await using server = await serve({});
  server.set(bigKeys(0));
  server.status(2);
  await using slow = new GoClients(server, [
    "--stall-at",
    "sync",
    "--stall-for",
    "1500ms",
    "--stats",
    "--digest",
    ...untilLast,
  ]);
  await slow.inSync();
  server.set(bigKeys(1), { type: 2 }); // fills the pipe
  for (let seq = 0; seq < 10_000; seq += 1) {
    server.set({ "/calico/v1/config/hot": `{"seq":${seq}}` }, { type: seq === 0 ? 1 : 2 });
    if (seq % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  server.set({ [lastKey]: "x" });
  const expected = digestOf(server.told);
  const stats = await slow.statsAtLast();
  deepEqual(stats.states, { [expected]: 1 });
  ok(stats.kvs < 20_000 + 1000, `${stats.kvs} updates`);
});
