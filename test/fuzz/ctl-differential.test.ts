// A few random commands, ours next to the original's calicoctl; `npm run fuzz:ctl` runs as many as one likes.
import { deepEqual } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { etcdStore } from "../conformance/ctl/etcd-store.ts";
import { aProcess, withinTest } from "../conformance/ctl/programs.ts";
import type { Store } from "../conformance/ctl/store.ts";
import { type EtcdCluster, etcdMissing, startEtcd } from "../kit/etcd.ts";
import { tryOne } from "./ctl/differential.ts";

const { CATTAIL_ORIGINAL_CALICOCTL: original } = process.env;
const notGiven =
  original === undefined ? "CATTAIL_ORIGINAL_CALICOCTL does not name the original's calicoctl" : undefined;

describe("random commands beside the original", { skip: notGiven ?? (await etcdMissing()) ?? false }, () => {
  let etcd: EtcdCluster;
  let store: Store;
  before(async () => {
    etcd = await startEtcd();
    const [member] = etcd.members;
    if (member !== undefined) store = etcdStore(member);
  });
  after(async () => {
    await etcd?.[Symbol.asyncDispose]();
  });

  // Seeds that have found something once.
  for (const seed of [1004, 1032, 2009, 2031, 3083, 3117, 3135]) {
    test(`seed ${seed}`, async () => {
      const program = aProcess((original ?? "").split(" "));
      const trial = { seed, store, ours: withinTest, original: program, on: "etcdv3", oddness: 12 } as const;
      deepEqual((await tryOne(trial)).differences, []);
    });
  }
});
