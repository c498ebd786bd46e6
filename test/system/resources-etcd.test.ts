// v3 objects in a real etcd: recorded runs of the original's calicoctl leave the same keys and values behind.
import { deepEqual } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { JsonRecord } from "../../src/base/lib/index.ts";
import { type Datastore, openEtcdDatastore } from "../../src/calico/datastore/index.ts";
import { openResources } from "../../src/calico/resources/index.ts";
import { type EtcdCluster, etcdMissing, startEtcd } from "../kit/etcd.ts";
import { casesOn, comparable, masked, runCase } from "./resources-golden.ts";

describe("recorded runs of calicoctl, on etcd", { skip: (await etcdMissing()) ?? false }, () => {
  let etcd: EtcdCluster;
  let datastore: Datastore;
  before(async () => {
    etcd = await startEtcd();
    datastore = await openEtcdDatastore({ endpoints: etcd.members.map(({ url }) => url) });
  });
  after(async () => {
    await datastore?.[Symbol.asyncDispose]();
    await etcd?.[Symbol.asyncDispose]();
  });

  for (const each of casesOn("etcdv3")) {
    test(`${each.name}: ${each.about}`, async () => {
      const [member] = etcd.members;
      for (const { key } of (await member?.ask({ do: "list", key: "/calico/" }))?.pairs ?? []) {
        await member?.ask({ do: "delete", key });
      }
      for (const { key, value } of each.initial) {
        await member?.ask({ do: "put", key: String(key), value: JSON.stringify(value) });
      }
      await runCase(each, { datastore, resources: openResources(datastore), fill: async (text) => text });
      const answer = await member?.ask({ do: "list", key: "/calico/" });
      const pairs = (answer?.pairs ?? []).map(({ key, value }) => ({ key, value: parsed(value) }));
      deepEqual(comparable(pairs, each, nameOf), masked(each.expected.stored.objects));
    });
  }
});

const annotation = "projectcalico.org/metadata";

function parsed(text: string): JsonRecord {
  const value = JSON.parse(text) as { metadata?: { annotations?: Record<string, unknown> } }; // what the step stored
  const annotations = value.metadata?.annotations;
  if (annotations?.[annotation] !== undefined) annotations[annotation] = JSON.parse(String(annotations[annotation]));
  return value;
}

function nameOf({ key }: JsonRecord): string {
  const [plural = "", name = ""] = String(key).split("/").slice(-2);
  const kinds: Record<string, string> = { tiers: "Tier", clusterinformations: "ClusterInformation" };
  return `${kinds[plural] ?? plural}/${name}`;
}
