// Random clusters: what packets do is what explain says of them. A short one with npm test; npm run campaign:policy for the whole.
import { deepEqual } from "node:assert/strict";
import { after, before, test } from "node:test";
import { say, size } from "../kit/campaign.ts";
import { PolicyLab } from "../kit/policy/lab.ts";
import { noPolicyLab } from "../kit/policy/needs.ts";
import { PartUnderTest } from "../kit/policy/part-under-test.ts";
import { PolicyWorld } from "../kit/policy-world.ts";
import { seededRandom, testSeed } from "../kit/random.ts";
import { compare, flowsFor } from "./policy/compare.ts";
import { randomCluster } from "./policy/random-cluster.ts";

const clusters = Number(process.env.CATTAIL_CLUSTERS ?? size({ short: 40, long: 2_500 }));
/** So many are enough to see what is wrong. */
const mostDifferent = 5;
let lab: PolicyLab;
let part: PartUnderTest;

before(async () => {
  if (noPolicyLab !== false) return;
  lab = new PolicyLab();
  const world = new PolicyWorld();
  for (const pod of world.pods) lab.addPod(pod.namespace, pod.name, pod.ips, pod.node === "node-a");
  part = new PartUnderTest({
    node: "node-a",
    namespace: lab.node.path,
    settings: { DefaultEndpointToHostAction: "Accept" },
  });
  part.start();
  part.sayAll(world.said);
  await part.settled();
});

after(async () => {
  await part?.stop();
  lab?.[Symbol.dispose]();
});

test(`${clusters} random clusters: packets do what explain says`, {
  skip: noPolicyLab,
  timeout: 3_600_000,
}, async () => {
  const seed = testSeed();
  let flows = 0;
  const found: { seed: number; differences: readonly unknown[]; said: string }[] = [];
  const startedMs = performance.now();
  for (let number = 0; number < clusters; number += 1) {
    // Each from a seed of its own, so that one that differs can be had alone: CATTAIL_SEED=that one.
    const own = (seed + number) >>> 0;
    const random = seededRandom(own);
    const cluster = randomCluster(random);
    const asked = flowsFor(random);
    flows += asked.length;
    const differences = await compare(cluster, asked, { lab, part, timeoutMs: 100 });
    if (differences.length > 0) found.push({ seed: own, differences, said: part.detail });
    if (found.length === mostDifferent) break;
  }
  deepEqual(found, []);
  say("random clusters", { clusters, flows, minutes: (performance.now() - startedMs) / 60_000 }, seed);
});
