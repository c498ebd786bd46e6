import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/kit/fake-clock.ts";
import { type Log, silentLog, systemClock } from "../../base/lib/index.ts";
import { createMemoryDatastore, DatastoreError, type MemoryDatastore } from "../datastore/index.ts";
import { type SyncerBatch, syncerTypes, syncStatus, updateType } from "../model/index.ts";
import { runSyncers, type Syncers } from "./run-syncers.ts";

const node = (name: string) => ({ metadata: { name }, spec: {}, status: {} });
const pod = (name: string, podIP: string) => ({
  metadata: { name, namespace: "shop" },
  spec: { nodeName: "node-a", containers: [] },
  status: { podIP },
});

function start(datastore: MemoryDatastore, log: Log = silentLog) {
  const controller = new AbortController();
  const random = () => 0.5;
  const syncers = runSyncers({ datastore, clock: systemClock, log, random, signal: controller.signal });
  return { syncers, controller };
}

/** Reads until the predicate holds for what has been read. */
async function readUntil(syncers: Syncers, isDone: (batches: SyncerBatch[]) => boolean): Promise<SyncerBatch[]> {
  const batches: SyncerBatch[] = [];
  for await (const batch of syncers) {
    batches.push(batch);
    if (isDone(batches)) break;
  }
  return batches;
}

const areAllInSync = (batches: SyncerBatch[]) =>
  syncerTypes.every((syncer) => batches.some((batch) => batch.syncer === syncer && batch.status === syncStatus.inSync));

test("every syncer waits, resyncs, and is in sync after all that it was to hear", async () => {
  await using datastore = createMemoryDatastore();
  await datastore.create("Node", node("node-a"));
  await datastore.create("Pod", pod("web-0", "10.65.0.2"));
  const { syncers } = start(datastore);
  const batches = await readUntil(syncers, areAllInSync);
  for (const syncer of syncerTypes) {
    const statuses = batches.flatMap((batch) => (batch.syncer === syncer ? (batch.status ?? []) : []));
    deepEqual(statuses, [syncStatus.waitForDatastore, syncStatus.resyncInProgress, syncStatus.inSync], syncer);
    const last = batches.findLastIndex((batch) => batch.syncer === syncer && batch.updates.length > 0);
    const inSync = batches.findIndex((batch) => batch.syncer === syncer && batch.status === syncStatus.inSync);
    equal(last < inSync, true, `${syncer}: nothing comes after its status`);
  }
  const nodePath = "/calico/resources/v3/projectcalico.org/nodes/node-a";
  for (const syncer of ["felix", "bgp", "tunnel-ip-allocation"]) {
    const said = batches.filter((batch) => batch.syncer === syncer).flatMap((batch) => batch.updates);
    equal(said.filter(({ path }) => path === nodePath).length, 1, `${syncer} hears of the node once`);
  }
  equal(syncers.stats().nodeCount, 1);
});

test("a kind that several syncers want is listed once", async () => {
  const lists = new Map<string, number>();
  await using datastore = createMemoryDatastore({
    intercept: async ({ does, kind }) => {
      if (does === "list") lists.set(kind, (lists.get(kind) ?? 0) + 1);
    },
  });
  const { syncers } = start(datastore);
  await readUntil(syncers, areAllInSync);
  equal(lists.get("Node"), 1);
  equal(lists.get("IPPool"), 1);
});

test("a bad object is named once in the log, counted, and delays nobody", async () => {
  const warned: unknown[] = [];
  const log: Log = { ...silentLog, warn: (message, fields) => warned.push([message, fields]) };
  await using datastore = createMemoryDatastore();
  await datastore.create("Pod", pod("bad", "not-an-address"));
  await datastore.create("Pod", pod("good", "10.65.0.3"));
  const { syncers } = start(datastore, log);
  const batches = await readUntil(syncers, areAllInSync);
  const paths = batches.flatMap(({ updates }) => updates.map(({ path }) => path));
  equal(paths.includes("/calico/v1/host/node-a/workload/k8s/shop%2fgood/endpoint/eth0"), true);
  const rule = "must be an IP address or network";
  const fields = { kind: "Pod", object: "Pod/shop/bad", field: "status.podIP", rule, effect: "deleted" };
  deepEqual(warned, [["object breaks a rule", fields]]);
  deepEqual(syncers.stats().problems, [{ kind: "Pod", rule, effect: "deleted", count: 1 }]);
});

test("what changes later follows, with its type", async () => {
  await using datastore = createMemoryDatastore();
  const created = await datastore.create("Pod", pod("web-0", "10.65.0.2"));
  const { syncers } = start(datastore);
  const types: number[] = [];
  for await (const batch of syncers) {
    for (const { path, type } of batch.updates) if (path.includes("web-0")) types.push(type);
    if (types.length === 1 && batch.status === syncStatus.inSync && batch.syncer === "felix") {
      await datastore.update("Pod", { ...created, value: pod("web-0", "10.65.0.9") });
    }
    if (types.length === 2) await datastore.delete("Pod", created.id).catch(() => undefined);
    if (types.length === 3) break;
  }
  deepEqual(types, [updateType.new, updateType.updated, updateType.deleted]);
});

test("leaving the loop stops the followers; so does the signal", async () => {
  await using datastore = createMemoryDatastore();
  const { syncers } = start(datastore);
  await readUntil(syncers, areAllInSync);
  deepEqual([...new Set(syncers.reports().map(({ state }) => state))], ["stopped"]);

  const other = start(datastore);
  await readUntil(other.syncers, (batches) => {
    if (areAllInSync(batches)) other.controller.abort();
    return false;
  });
  deepEqual([...new Set(other.syncers.reports().map(({ state }) => state))], ["stopped"]);
});

test("one kind that cannot be listed keeps its syncer from being in sync, and no other", async () => {
  await using datastore = createMemoryDatastore({
    intercept: async ({ does, kind }) => {
      if (does === "list" && kind === "Pod") throw new DatastoreError("unavailable", "not now");
    },
  });
  const { syncers } = start(datastore);
  const others = syncerTypes.filter((syncer) => syncer !== "felix");
  const batches = await readUntil(syncers, (read) =>
    others.every((syncer) => read.some((batch) => batch.syncer === syncer && batch.status === syncStatus.inSync)),
  );
  equal(
    batches.some((batch) => batch.syncer === "felix" && batch.status === syncStatus.inSync),
    false,
  );
  equal(syncers.stats().nodeCount, undefined);
});

test("a datastore that goes away is one line in the log, which names the kinds", async () => {
  const clock = new FakeClock();
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => void warnings.push(message) };
  const controller = new AbortController();
  const datastore = createMemoryDatastore({ clock });
  const syncers = runSyncers({ datastore, clock, log, random: () => 0.5, signal: controller.signal });
  const reading = (async () => {
    for await (const _ of syncers);
  })();
  await clock.advance(10_000);
  datastore.setIntercept(() => {
    throw new DatastoreError("unavailable", "connect ECONNREFUSED");
  });
  datastore.endWatches();
  await clock.advance(30_000);
  const watched = syncers.reports().filter(({ watchesOpened }) => watchesOpened > 0);
  equal(watched.length > 15, true);
  deepEqual(warnings, [
    `cannot watch ${watched
      .map(({ kind }) => kind)
      .sort()
      .join(", ")}`,
  ]);
  controller.abort();
  await reading;
});

test("a kind that nobody reads is not listed, and the others are in sync without it", async () => {
  const listed = new Set<string>();
  await using datastore = createMemoryDatastore({
    intercept: async ({ does, kind }) => {
      if (does === "list") listed.add(kind);
    },
  });
  const { signal } = new AbortController();
  const edge = { clock: systemClock, log: silentLog, random: () => 0.5, signal };
  const syncers = runSyncers({ datastore, ...edge, isRead: (syncer) => syncer === "tunnel-ip-allocation" });
  const batches = await readUntil(syncers, (read) => read.some(({ status }) => status === syncStatus.inSync));
  deepEqual([...listed].sort(), ["IPPool", "Node"]);
  equal(batches.at(-1)?.syncer, "tunnel-ip-allocation");
});
