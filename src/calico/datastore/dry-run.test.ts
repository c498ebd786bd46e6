// A dry run over a datastore: it reads what was written to it, and the datastore behind it stays as it was. That an API
// server checks each write, and stores none, is in test/system/ctl-faults.test.ts.
import { deepEqual, equal, rejects } from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { Datastore, StoredObject } from "./datastore.ts";
import { createDryRun } from "./dry-run.ts";
import { createMemoryDatastore, type MemoryDatastore } from "./memory/memory-datastore.ts";

const kind = "GlobalNetworkSet";
const id = (name: string) => ({ namespace: "", name });
const value = (name: string, nets: readonly string[] = [], labels = {}) => ({
  metadata: { name, labels },
  spec: { nets },
});

let real: MemoryDatastore;
let dry: Datastore;
beforeEach(async () => {
  real = createMemoryDatastore();
  for (const name of ["a", "b"]) await real.create(kind, value(name));
  dry = createDryRun(real);
});

async function namesIn(datastore: Datastore, within = {}): Promise<string[]> {
  const found: string[] = [];
  for await (const { items } of datastore.list(kind, { signal: new AbortController().signal, within })) {
    found.push(...items.map((item) => item.id.name));
  }
  return found.sort();
}

async function must(datastore: Datastore, name: string): Promise<StoredObject> {
  const found = await datastore.get(kind, id(name));
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
}

test("what is created is read and listed, and not stored", async () => {
  await dry.create(kind, value("c", [], { x: "1" }));
  deepEqual((await must(dry, "c")).value, value("c", [], { x: "1" }));
  deepEqual(await namesIn(dry), ["a", "b", "c"]);
  deepEqual(await namesIn(dry, { labels: "x=1" }), ["c"]);
  deepEqual(await namesIn(real), ["a", "b"]);
});

test("what is there cannot be created, whether stored or pretended", async () => {
  await rejects(dry.create(kind, value("a")), { code: "exists" });
  await dry.create(kind, value("c"));
  await rejects(dry.create(kind, value("c")), { code: "exists" });
});

test("an update counts from what was read, once", async () => {
  const first = await must(dry, "a");
  const second = await dry.update(kind, { ...first, value: value("a", ["10.0.0.0/8"]) });
  await rejects(dry.update(kind, { ...first, value: value("a") }), { code: "conflict" });
  await dry.update(kind, { ...second, value: value("a", ["10.1.0.0/16"]) });
  deepEqual((await must(dry, "a")).value, value("a", ["10.1.0.0/16"]));
  deepEqual((await must(real, "a")).value, first.value);
  await rejects(dry.update(kind, { ...first, id: id("none") }), { code: "not-found" });
});

test("what is deleted is gone, may be made again, and is still stored", async () => {
  await dry.delete(kind, id("a"));
  equal(await dry.get(kind, id("a")), undefined);
  deepEqual(await namesIn(dry), ["b"]);
  await rejects(dry.delete(kind, id("a")), { code: "not-found" });
  await dry.create(kind, value("a", ["10.0.0.0/8"]));
  deepEqual(await namesIn(dry), ["a", "b"]);
  deepEqual(await namesIn(real), ["a", "b"]);
  await rejects(dry.delete(kind, id("b"), { revision: (await must(dry, "a")).revision }), { code: "conflict" });
});

test("a patch is merged into what is read", async () => {
  await dry.patch(kind, id("a"), { metadata: { labels: { x: "1" } } });
  const { value: patched } = await must(dry, "a");
  equal((patched as { metadata: { labels: { x: string } } }).metadata.labels.x, "1");
  await rejects(dry.patch(kind, id("none"), { metadata: {} }), { code: "not-found" });
});

test("closing it leaves the datastore behind it open", async () => {
  await dry[Symbol.asyncDispose]();
  deepEqual(await namesIn(real), ["a", "b"]);
});
