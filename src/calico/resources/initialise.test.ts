import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { type JsonRecord, silentLog, systemClock } from "../../base/lib/index.ts";
import {
  createMemoryDatastore,
  type Datastore,
  DatastoreError,
  type MemoryDatastoreOptions,
  type StoredObject,
} from "../datastore/index.ts";
import { recordAt, recordOf } from "../model/index.ts";
import { initialiseDatastore } from "./initialise.ts";

const guid = "0123456789abcdef0123456789abcdef";
const options = {
  clock: systemClock,
  log: silentLog,
  signal: new AbortController().signal,
  newClusterGuid: () => guid,
  clusterTypes: ["typha"],
};

function specOf(stored: StoredObject | undefined): JsonRecord {
  return recordAt(recordOf(stored?.value, "value"), "spec", "");
}

async function specAfter(flavour: "kubernetes" | "etcdv3", before?: object): Promise<unknown> {
  await using datastore = createMemoryDatastore({ flavour });
  if (before !== undefined) {
    await datastore.create("ClusterInformation", { metadata: { name: "default" }, spec: before });
  }
  await initialiseDatastore(datastore, options);
  return specOf(await datastore.get("ClusterInformation", { namespace: "", name: "default" }));
}

const cases: { name: string; flavour: "kubernetes" | "etcdv3"; before?: object; after: object }[] = [
  {
    name: "an empty cluster",
    flavour: "kubernetes",
    after: { clusterGUID: guid, clusterType: "typha,kdd", datastoreReady: true },
  },
  {
    name: "an empty etcd",
    flavour: "etcdv3",
    after: { clusterGUID: guid, clusterType: "typha", datastoreReady: true },
  },
  {
    name: "what is there stays, what is missing is added",
    flavour: "kubernetes",
    before: { clusterGUID: "mine", clusterType: "k8s,kdd,bgp", calicoVersion: "v3.31.0", datastoreReady: false },
    after: { clusterGUID: "mine", clusterType: "k8s,kdd,bgp,typha", calicoVersion: "v3.31.0", datastoreReady: false },
  },
  {
    name: "numbers beyond 2^53 stay, too",
    flavour: "etcdv3",
    before: { clusterGUID: "mine", later: 12345678901234567890n },
    after: { clusterGUID: "mine", later: 12345678901234567890n, clusterType: "typha", datastoreReady: true },
  },
  {
    name: "null is missing",
    flavour: "etcdv3",
    before: { clusterGUID: null, clusterType: null, datastoreReady: null },
    after: { clusterGUID: guid, clusterType: "typha", datastoreReady: true },
  },
];
for (const { name, flavour, before, after } of cases) {
  test(`initialise: ${name}`, async () => deepEqual(await specAfter(flavour, before), after));
}

const unreadable: { name: string; stored: Pick<StoredObject, "value" | "problem">; says: RegExp }[] = [
  { name: "not JSON", stored: { value: undefined, problem: "is not JSON: x" }, says: /cannot be read: is not JSON: x/ },
  { name: "no object", stored: { value: ["deadbeef"] }, says: /is not an object/ },
  { name: "a spec that is none", stored: { value: { spec: "deadbeef" } }, says: /spec is not an object/ },
  {
    name: "a GUID that is none",
    stored: { value: { spec: { clusterGUID: 1 } } },
    says: /spec.clusterGUID is not a string/,
  },
  {
    name: "a mark that is none",
    stored: { value: { spec: { clusterGUID: "mine", datastoreReady: "no" } } },
    says: /spec.datastoreReady is not a boolean/,
  },
];
for (const { name, stored, says } of unreadable) {
  test(`initialise: a ClusterInformation that cannot be read keeps its GUID: ${name}`, async () => {
    const written: string[] = [];
    const memory = createMemoryDatastore({
      flavour: "etcdv3",
      intercept: ({ does, kind }) => void written.push(`${does} ${kind}`),
    });
    const revision = memory.revision();
    const datastore: Datastore = {
      flavour: "etcdv3",
      list: (kind, options) => memory.list(kind, options),
      watch: (kind, options) => memory.watch(kind, options),
      get: async (_kind, id) => ({ id, revision, ...stored }),
      create: (kind, value, options) => memory.create(kind, value, options),
      update: (kind, object, options) => memory.update(kind, object, options),
      updateStatus: (kind, object, options) => memory.updateStatus(kind, object, options),
      patch: (kind, id, patch, options) => memory.patch(kind, id, patch, options),
      delete: (kind, id, options) => memory.delete(kind, id, options),
      [Symbol.asyncDispose]: () => memory[Symbol.asyncDispose](),
    };
    await rejects(initialiseDatastore(datastore, options), { code: "invalid", message: says });
    deepEqual(written, ["create Tier", "create Tier", "create Tier"]);
  });
}

test("the tiers are made where they are missing, and left alone where they are not", async () => {
  await using datastore = createMemoryDatastore();
  await datastore.create("Tier", { metadata: { name: "default" }, spec: { order: 5 } });
  await initialiseDatastore(datastore, options);
  const orders = [];
  for (const name of ["default", "kube-admin", "kube-baseline"]) {
    orders.push(specOf(await datastore.get("Tier", { namespace: "", name })).order);
  }
  deepEqual(orders, [5, 1000, 10_000_000]);
});

test("a second time writes nothing", async () => {
  const writes: string[] = [];
  const intercept: MemoryDatastoreOptions["intercept"] = async ({ does, kind }) => {
    if (does === "update") writes.push(kind);
  };
  await using datastore = createMemoryDatastore(intercept === undefined ? {} : { intercept });
  await initialiseDatastore(datastore, options);
  await initialiseDatastore(datastore, options);
  deepEqual(writes, []);
});

test("missing rights do not stop the start", async () => {
  await using datastore = createMemoryDatastore({
    intercept: async ({ does }) => {
      if (does === "create" || does === "update") throw new DatastoreError("forbidden", "no");
    },
  });
  await initialiseDatastore(datastore, options);
  equal(await datastore.get("Tier", { namespace: "", name: "default" }), undefined);
});

test("everything is tried before a failure is told", async () => {
  await using datastore = createMemoryDatastore({
    intercept: async ({ does, kind }) => {
      if (does === "get" && kind === "ClusterInformation") throw new DatastoreError("unavailable", "not now");
    },
  });
  await rejects(initialiseDatastore(datastore, options), /not now/);
  const tier = await datastore.get("Tier", { namespace: "", name: "kube-admin" });
  equal(tier?.id.name, "kube-admin");
});
