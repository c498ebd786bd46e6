// Random clusters: what packets do is what explain says of them. A short one with npm test; npm run campaign:policy for the whole.
import { deepEqual } from "node:assert/strict";
import { after, before, test } from "node:test";
import { judge, worldOf } from "../../src/calico/policy/index.ts";
import { say, sayWrong, size } from "../kit/campaign.ts";
import { changed } from "../kit/kubernetes-policy/history.ts";
import type { OracleCluster } from "../kit/kubernetes-policy/objects.ts";
import { kubernetesAllows } from "../kit/kubernetes-policy/oracle.ts";
import { randomKubernetesCluster } from "../kit/kubernetes-policy/random-objects.ts";
import { connectionOf, worldOfCluster } from "../kit/kubernetes-policy/world.ts";
import { type ProbedFlow, readFlow } from "../kit/policy/flow.ts";
import { PolicyLab } from "../kit/policy/lab.ts";
import { noPolicyLab } from "../kit/policy/needs.ts";
import { PartUnderTest } from "../kit/policy/part-under-test.ts";
import { smallClusters, worldWith } from "../kit/policy/small-clusters.ts";
import { PolicyWorld } from "../kit/policy-world.ts";
import { seededRandom, testSeed } from "../kit/random.ts";
import { compare, flowsFor } from "./policy/compare.ts";
import { randomCluster } from "./policy/random-cluster.ts";

const clusters = Number(process.env.CATTAIL_CLUSTERS ?? size({ short: 40, long: 2_500 }));
/** Each batch is a test, so that one hears of a long campaign while it runs. */
const batch = 100;
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

// Packets must do what the verdicts say, and policy-verdicts has these say what stands in the table.
test("small clusters: packets do what explain says", { skip: noPolicyLab }, async () => {
  for (const cluster of smallClusters) {
    const flows = Object.keys(cluster.flows).map(readFlow);
    const differences = await compare(worldWith(cluster), flows, { lab, part, timeoutMs: 100 });
    deepEqual({ differences, refused: part.detail }, { differences: [], refused: "" }, cluster.about);
  }
});

/** With npm test the same ones each time: what others find is for the campaign to tell. */
const seed = process.env.CATTAIL_SEED === undefined && clusters <= 40 ? 26_001_800 : testSeed();

const ofKubernetes = "random clusters of Kubernetes' policies";
const kubernetesClusters = Number(process.env.CATTAIL_KUBERNETES_CLUSTERS ?? size({ short: 4, long: 200 }));
test(`${kubernetesClusters} random clusters of Kubernetes' policies: packets do what their API says`, {
  skip: noPolicyLab,
  timeout: 3_600_000,
}, async () => {
  const { pods } = new PolicyWorld();
  let asked = 0;
  for (let number = 0; number < kubernetesClusters; number += 1) {
    const own = (seed + number) >>> 0;
    const random = seededRandom(own);
    const cluster = randomKubernetesCluster(random, pods);
    const world = worldOfCluster(cluster);
    const flows = flowsFor(random).filter(({ from, to }) => from !== "node" && to !== "node");
    const differences = await compare({ world, values: world.said }, flows, { lab, part, timeoutMs: 100 });
    const unlike = unlikeApi(flows, cluster, world);
    asked += flows.length;
    const found = [...differences, ...unlike, part.detail].filter((each) => each !== "");
    if (found.length > 0) sayWrong(ofKubernetes, JSON.stringify(found), { clusters: number + 1, flows: asked }, own);
    deepEqual(
      { differences, unlike, refused: part.detail },
      { differences: [], unlike: [], refused: "" },
      `seed ${own}`,
    );
  }
  say(ofKubernetes, { clusters: kubernetesClusters, flows: asked }, seed);
});

const thatChange = "clusters that change piece by piece";
const histories = Number(process.env.CATTAIL_HISTORIES ?? size({ short: 2, long: 60 }));
test(`${histories} clusters that change piece by piece: after each change packets do what the API says`, {
  skip: noPolicyLab,
  timeout: 3_600_000,
}, async () => {
  const { pods } = new PolicyWorld();
  let asked = 0;
  for (let number = 0; number < histories; number += 1) {
    const own = (seed + number) >>> 0;
    const random = seededRandom(own);
    let cluster = randomKubernetesCluster(random, pods);
    const world = worldOfCluster(cluster);
    const steps: string[] = [];
    for (let step = 0; step < 10; step += 1) {
      const change = changed(cluster, world, random);
      cluster = change.cluster;
      steps.push(change.about);
      const flows = flowsFor(random).filter(({ from, to }) => from !== "node" && to !== "node");
      const differences = await compare({ world, values: new Map(world.said) }, flows, { lab, part, timeoutMs: 100 });
      const unlike = unlikeApi(flows, cluster, world);
      asked += flows.length;
      const found = [...differences, ...unlike, part.detail].filter((each) => each !== "");
      if (found.length > 0)
        sayWrong(thatChange, JSON.stringify([steps.at(-1), ...found]), { histories: number + 1, flows: asked }, own);
      deepEqual(
        { differences, unlike, refused: part.detail },
        { differences: [], unlike: [], refused: "" },
        `seed ${own}: ${steps.join("; ")}`,
      );
    }
  }
  say(thatChange, { histories, flows: asked }, seed);
});

/** The lab enforces on one node; the API knows of none. */
function unlikeApi(flows: readonly ProbedFlow[], cluster: OracleCluster, world: PolicyWorld): readonly string[] {
  const judged = worldOf(world.data);
  return flows.flatMap((flow) => {
    const [connection, said] = [connectionOf(flow, cluster), world.flow(flow.text)];
    if (connection === undefined || "left" in said) return [];
    const verdict = kubernetesAllows(connection, cluster) ? "allow" : "deny";
    return judge(said, judged).verdict === verdict ? [] : [flow.text];
  });
}

let flows = 0;
const startedMs = performance.now();
for (let first = 0; first < clusters; first += batch) {
  const last = Math.min(clusters, first + batch);
  test(`random clusters ${first + 1} to ${last}: packets do what explain says`, {
    skip: noPolicyLab,
    timeout: 600_000,
  }, async () => {
    for (let number = first; number < last; number += 1) {
      // Each from a seed of its own, so that one that differs can be had alone: CATTAIL_CLUSTERS=1 CATTAIL_SEED=that one.
      const own = (seed + number) >>> 0;
      const random = seededRandom(own);
      const cluster = randomCluster(random);
      // To deny is then to refuse with an answer, where anybody can be answered.
      if (own % 5 === 0) cluster.values.set("/calico/v1/config/NftablesFilterDenyAction", "Reject");
      const asked = flowsFor(random);
      flows += asked.length;
      const differences = await compare(cluster, asked, { lab, part, timeoutMs: 100 });
      const found = [...differences, part.detail].filter((each) => each !== "");
      if (found.length > 0) sayWrong("random clusters", JSON.stringify(found), { clusters: number + 1, flows }, own);
      deepEqual({ differences, refused: part.detail }, { differences: [], refused: "" }, `the cluster of seed ${own}`);
    }
    say("random clusters", { clusters: last, flows, minutes: (performance.now() - startedMs) / 60_000 }, seed);
  });
}
