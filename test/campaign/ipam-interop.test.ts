// Campaign: our IPAM plugin beside the original's on one etcd; the original is given by its path. Whole: npm run campaign:ipam.
import { ok } from "node:assert/strict";
import { test } from "node:test";
import { etcdMissing } from "../kit/etcd.ts";
import { interopOnEtcd, ourPlugin } from "../kit/ipam/interop.ts";
import { seededRandom, testSeed } from "../kit/random.ts";

const original = process.env.CATTAIL_ORIGINAL_IPAM;
const seed = testSeed();
const missing = await etcdMissing();

test(`24 calls of our plugin and the original's, side by side (seed ${seed})`, {
  skip: missing ?? (original === undefined ? "CATTAIL_ORIGINAL_IPAM names no calico-ipam of the original" : false),
  timeout: 300_000,
}, async () => {
  const done = await interopOnEtcd(original ?? "", { calls: 24, workers: 4, kills: 0, random: seededRandom(seed) });
  ok(done.added > 0 && done.byOriginal > 0 && done.byOurs > 0);
});

test(`16 calls of our plugin in two places, some of them killed (seed ${seed})`, {
  skip: missing ?? false,
  timeout: 300_000,
}, async () => {
  const done = await interopOnEtcd(ourPlugin, { calls: 16, workers: 4, kills: 0.2, random: seededRandom(seed) });
  ok(done.added > 0);
});
