// The recorded runs of calicoctl against a real etcd, and those that need no datastore or a host of their own.
import { after, before, describe, test } from "node:test";
import { casesOn } from "../conformance/ctl/case.ts";
import { etcdStore } from "../conformance/ctl/etcd-store.ts";
import type { Store } from "../conformance/ctl/store.ts";
import { asTest } from "../conformance/ctl/test-case.ts";
import { type EtcdCluster, etcdMissing, startEtcd } from "../kit/etcd.ts";

describe("recorded runs of calicoctl, on etcd", { skip: (await etcdMissing()) ?? false }, () => {
  let etcd: EtcdCluster;
  let store: Store | undefined;
  before(async () => {
    etcd = await startEtcd();
    const [member] = etcd.members;
    if (member !== undefined) store = etcdStore(member);
  });
  after(async () => {
    await etcd?.[Symbol.asyncDispose]();
  });
  for (const golden of casesOn("etcdv3")) test(...asTest(golden, () => store));
});

describe("recorded runs of calicoctl, without a datastore", () => {
  for (const golden of casesOn("offline")) test(...asTest(golden));
});

describe("recorded runs of calicoctl, on a host of its own", { skip: process.getuid?.() !== 0 && "needs root" }, () => {
  for (const golden of casesOn("host")) test(...asTest(golden));
});
