// Campaign: pods come and go with killed plugins and agents, failing API servers, lost namespaces and replaced pods, and nothing is left: no address,
// handle, interface, route or annotation. Whole: npm run campaign:cni (2,000 sequences).
import { ok } from "node:assert/strict";
import { test } from "node:test";
import { clusterPeer } from "../kit/cluster.ts";
import { runCniCampaign } from "../kit/cni-campaign/run-campaign.ts";
import { noNamespaces } from "../kit/namespace.ts";
import { testSeed } from "../kit/random.ts";

const { missing } = await clusterPeer();
const seed = testSeed();

test(`24 sequences of CNI calls leave nothing (seed ${seed})`, {
  skip: noNamespaces || (missing ?? false),
  timeout: 400_000,
}, async () => {
  const plan = { sequences: 24, seed, nodes: 4, residentOfTen: 5, atMostMs: 60_000 };
  const done = await runCniCampaign(plan);
  ok(done.sequences >= 4, "hardly anything was done");
  ok(done.added > 0 && done.deleted > 0 && done.pluginsKilled + done.apiFaults > 0, "nothing happened");
});
