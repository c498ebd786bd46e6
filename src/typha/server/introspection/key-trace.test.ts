// How far a change has travelled, over a real cache: the clients' reports and the writes are made up.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { type KvUpdate, type SyncerBatch, updateType } from "../../../calico/model/index.ts";
import type { ClientReport, WriteRecord } from "../../fanout/index.ts";
import { type Server, startServer } from "../serve.ts";
import { Introspection } from "./introspection.ts";

const path = "/calico/v1/config/LogSeverity";
const update: KvUpdate = { path, value: "Info", revision: "7", v3ResourceVersion: "", type: updateType.new };
const filler: KvUpdate = { ...update, path: "/calico/v1/config/Other" };

type Facts = { clients: { position: number; node: string }[]; writes: WriteRecord[]; updates: KvUpdate[] };

async function look({ clients, writes, updates }: Facts) {
  let nowMs = 1000;
  const clock = { wallMs: () => nowMs++, monotonicMs: () => 0, sleep: async () => undefined };
  await using real = await startServer({ listen: { host: "127.0.0.1", port: 0 }, workers: 0 });
  const reports = clients.map((client) => ({ ...client, syncer: "felix", address: "10.0.0.1:1" }) as ClientReport); // all that is looked at
  const server: Server = { ...real, clients: async () => reports, writesSince: async () => writes, activeCount: 0 };
  const introspection = new Introspection({ clock, isRecording: true });
  introspection.attach(server);
  async function* batches(): AsyncGenerator<SyncerBatch> {
    for (const one of updates) yield { syncer: "felix", updates: [one] };
  }
  for await (const batch of introspection.tap(batches())) real.apply(batch);
  return { introspection, detail: await introspection.key("felix", path) };
}

const unwritten = {
  receivedAtMs: 1000,
  cachedAtMs: 1001,
  firstWriteAtMs: null,
  lastWriteAtMs: null,
  clients: 0,
  clientsBehind: 0,
  slowestClient: null,
};

const cases: { name: string; facts: Facts; trace: object }[] = [
  {
    name: "nobody is connected: received and cached",
    facts: { updates: [update], clients: [], writes: [] },
    trace: unwritten,
  },
  {
    name: "two threads wrote it: the first of the first, the last of the last",
    facts: {
      updates: [update, filler],
      clients: [
        { position: 2, node: "a" },
        { position: 1, node: "b" },
      ],
      writes: [
        { from: 0, to: 1, firstAtMs: 1005, lastAtMs: 1007, clients: 1 },
        { from: 0, to: 2, firstAtMs: 1004, lastAtMs: 1009, clients: 1 },
        { from: 1, to: 2, firstAtMs: 1020, lastAtMs: 1021, clients: 1 },
      ],
    },
    trace: { ...unwritten, firstWriteAtMs: 1004, lastWriteAtMs: 1009, clients: 2 },
  },
  {
    name: "a client is behind: it is counted and named",
    facts: {
      updates: [filler, update],
      clients: [
        { position: 2, node: "a" },
        { position: 1, node: "slow" },
        { position: 0, node: "slowest" },
      ],
      writes: [{ from: 1, to: 2, firstAtMs: 1002, lastAtMs: 1002, clients: 1 }],
    },
    trace: {
      receivedAtMs: 1002,
      cachedAtMs: 1002,
      firstWriteAtMs: 1002,
      lastWriteAtMs: 1002,
      clients: 1,
      clientsBehind: 2,
      slowestClient: "slowest (10.0.0.1:1)",
    },
  },
  {
    name: "a repetition that nobody was told of is no change",
    facts: { updates: [update, { ...update, revision: "8", type: updateType.updated }], clients: [], writes: [] },
    trace: unwritten,
  },
];

for (const { name, facts, trace } of cases) {
  test(`trace: ${name}`, async () => deepEqual((await look(facts)).detail?.trace, trace));
}

test("a deleted key has no value, and its history says so", async () => {
  const gone = { ...update, value: undefined, revision: "", type: updateType.deleted };
  const { detail } = await look({ updates: [update, gone], clients: [], writes: [] });
  equal(detail?.value, null);
  deepEqual(
    detail?.history.map(({ change }) => change),
    ["deleted", "new"],
  );
});

test("delivery times are counted from the oldest change of a flush, half of its clients at either end", async () => {
  const writes = [{ from: 0, to: 1, firstAtMs: 1010, lastAtMs: 1030, clients: 4 }];
  const { introspection } = await look({ updates: [update], clients: [], writes });
  const since = new Map();
  const found = await introspection.deliveries(since);
  deepEqual(found.slice(0, 2), [
    { ms: 10, clients: 2 },
    { ms: 30, clients: 2 },
  ]);
  equal(since.get("felix"), 1);
});
