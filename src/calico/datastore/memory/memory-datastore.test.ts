import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import type { Datastore, Revision, WatchEvent } from "../datastore.ts";
import { DatastoreError } from "../errors.ts";
import { createMemoryDatastore } from "./memory-datastore.ts";

const tier = (name: string) => ({ metadata: { name }, spec: { order: 1 } });
const signal = new AbortController().signal;

async function take(datastore: Datastore, from: Revision, count: number): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  for await (const together of datastore.watch("Tier", { from, signal })) {
    events.push(...together);
    if (events.length >= count) break;
  }
  return events.slice(0, count);
}

test("an object gets a uid, a creation time and its revision, and keeps the first two for life", async () => {
  const datastore = createMemoryDatastore({ makeUid: () => "u-1" });
  const created = await datastore.create("Tier", tier("a"));
  const updated = await datastore.update("Tier", { ...created, value: tier("a") });
  const { creationTimestamp } = (created.value as { metadata: { creationTimestamp: string } }).metadata;
  const metadata = { name: "a", uid: "u-1", creationTimestamp, resourceVersion: "2" };
  deepEqual(updated.value, { metadata, spec: { order: 1 } });
});

test("what was handed in or out cannot be changed behind the datastore's back", async () => {
  const datastore = createMemoryDatastore();
  const given = tier("a");
  const created = await datastore.create("Tier", given);
  given.spec.order = 2;
  equal((created.value as typeof given).spec.order, 1);
  equal(Object.isFrozen((created.value as typeof given).spec), true);
});

test("a watch that falls out of the window is expired", async () => {
  const datastore = createMemoryDatastore({ mostChanges: 4 });
  const start = datastore.revision();
  for (let i = 0; i < 10; i++) await datastore.put("Tier", tier("a"));
  await rejects(take(datastore, start, 1), { code: "expired" });
});

test("a compaction does not disturb an open watch that has read everything", async () => {
  const datastore = createMemoryDatastore();
  const watch = datastore.watch("Tier", { from: datastore.revision(), signal })[Symbol.asyncIterator]();
  const first = watch.next();
  await datastore.put("Tier", tier("a"));
  await first;
  const second = watch.next();
  await datastore.put("Node", tier("n"));
  datastore.compact();
  await datastore.put("Tier", tier("b"));
  equal((await second).value?.[0]?.is, "set");
});

test("a compaction expires a watch from before it", async () => {
  const datastore = createMemoryDatastore();
  const start = datastore.revision();
  await datastore.put("Node", tier("n"));
  datastore.compact();
  await rejects(take(datastore, start, 1), { code: "expired" });
});

test("an idle watch says its revision after the bookmark interval", async () => {
  const datastore = createMemoryDatastore({ bookmarkIntervalMs: 1 });
  await datastore.put("Node", tier("n"));
  deepEqual(await take(datastore, datastore.revision(), 1), [{ is: "bookmark", revision: "1" }]);
});

test("a watch of a quiet kind says its revision in time, however busy the others are", async () => {
  const clock = new FakeClock();
  const datastore = createMemoryDatastore({ clock, bookmarkIntervalMs: 60_000 });
  const controller = new AbortController();
  const heard: string[] = [];
  const watching = (async () => {
    const options = { from: datastore.revision(), signal: controller.signal };
    for await (const [event] of datastore.watch("Tier", options)) {
      heard.push(`${clock.monotonicMs() / 1000} ${event?.is} ${event?.is === "set" ? "" : event?.revision}`.trim());
    }
  })();
  for (let second = 1; second <= 150; second++) {
    if (second === 31) await datastore.put("Tier", tier("a"));
    await datastore.put("Node", tier("n"));
    await clock.advance(1000);
  }
  // Sixty seconds after the last word, and as far as all kinds are.
  deepEqual(heard, ["30 set", "90 bookmark 91", "150 bookmark 151"]);
  controller.abort(new Error("enough"));
  await rejects(watching, /enough/);
});

test("an aborted watch throws the signal's reason", async () => {
  const datastore = createMemoryDatastore();
  const controller = new AbortController();
  const waiting = datastore
    .watch("Tier", { from: datastore.revision(), signal: controller.signal })
    [Symbol.asyncIterator]();
  const next = waiting.next();
  controller.abort(new Error("stopped"));
  await rejects(next, /stopped/);
});

test("every step can be made to fail", async () => {
  const steps: string[] = [];
  const datastore = createMemoryDatastore({
    intercept({ does, kind }) {
      steps.push(`${does} ${kind}`);
      throw new DatastoreError("unavailable", "cut");
    },
  });
  const at = datastore.revision();
  await rejects(datastore.create("Tier", tier("a")), { code: "unavailable" });
  await rejects(datastore.get("Tier", { namespace: "", name: "a" }), { code: "unavailable" });
  await rejects(take(datastore, at, 1), { code: "unavailable" });
  deepEqual(steps, ["create Tier", "get Tier", "watch Tier"]);
});

test("ending the watches ends them normally", async () => {
  const datastore = createMemoryDatastore();
  const events = take(datastore, datastore.revision(), 1);
  await datastore.get("Tier", { namespace: "", name: "a" });
  datastore.endWatches();
  deepEqual(await events, []);
});

test("kinds that a flavour does not have are not found", async () => {
  await rejects(createMemoryDatastore().create("Profile", tier("a")), { code: "no-such-kind" });
  await rejects(createMemoryDatastore({ flavour: "etcdv3" }).create("Pod", tier("a")), { code: "no-such-kind" });
});

test("IPAMConfiguration and IPAMConfig are one object of Kubernetes' flavour, and two of etcd's", async () => {
  const id = { namespace: "", name: "default" };
  const config = { metadata: { name: "default" }, spec: { strictAffinity: true } };
  const one = createMemoryDatastore();
  await one.create("IPAMConfiguration", config);
  deepEqual(await one.get("IPAMConfig", id), await one.get("IPAMConfiguration", id));
  await rejects(one.create("IPAMConfig", config), { code: "exists" });
  const two = createMemoryDatastore({ flavour: "etcdv3" });
  await two.create("IPAMConfiguration", config);
  deepEqual(await two.get("IPAMConfig", id), undefined);
});

test("a value of etcd's flavour that is no API object is kept as it is, under the id it was given", async () => {
  const datastore = createMemoryDatastore({ flavour: "etcdv3" });
  const id = { namespace: "", name: "node-a/ipv4/block/10.0.0.0-26" };
  await datastore.create("BlockAffinity", { state: "confirmed" }, { id });
  deepEqual((await datastore.get("BlockAffinity", id))?.value, { state: "confirmed" });
});
