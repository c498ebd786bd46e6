// Verdicts about Kubernetes' own policies against an oracle that was written from the text of their API: random NetworkPolicies and
// ClusterNetworkPolicies go through the conversions, and every flow between pods and the world is asked of both.
// CATTAIL_CLUSTERS says how many clusters, CATTAIL_SEED which.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { judge, worldOf } from "../../src/calico/policy/index.ts";
import { kubernetesAllows } from "../kit/kubernetes-policy/oracle.ts";
import { randomKubernetesCluster } from "../kit/kubernetes-policy/random-objects.ts";
import { connectionOf, worldOfCluster } from "../kit/kubernetes-policy/world.ts";
import { readFlow } from "../kit/policy/flow.ts";
import { PolicyWorld } from "../kit/policy-world.ts";
import { seededRandom, testSeed } from "../kit/random.ts";

const clusters = Number(process.env.CATTAIL_CLUSTERS ?? 60);
const { pods } = new PolicyWorld();
const places = [...pods.map(({ namespace, name }) => `${namespace}/${name}`), "ext1", "ext2"];
const probes = [
  "tcp:80",
  "tcp:8080",
  "tcp:443",
  "udp:53",
  "udp:8080",
  "sctp:8080",
  "icmp",
  "tcp6:80",
  "udp6:53",
  "icmp6",
];

test(`${clusters} random clusters: Kubernetes' policies mean what their API says`, () => {
  const seed = testSeed();
  for (let number = 0; number < clusters; number += 1) {
    const own = (seed + number) >>> 0;
    const cluster = randomKubernetesCluster(seededRandom(own), pods);
    const world = worldOfCluster(cluster);
    const judged = worldOf(world.data);
    const said: { [flow: string]: string } = {};
    const meant: { [flow: string]: string } = {};
    for (const text of flowTexts()) {
      const connection = connectionOf(readFlow(text), cluster);
      const flow = world.flow(text);
      if (connection === undefined || "left" in flow) continue;
      said[text] = judge(flow, judged).verdict;
      meant[text] = kubernetesAllows(connection, cluster) ? "allow" : "deny";
    }
    deepEqual(said, meant, `the cluster of seed ${own}`);
  }
});

function* flowTexts(): Generator<string> {
  for (const from of places)
    for (const to of places)
      if (from !== to && (from.includes("/") || to.includes("/")))
        for (const probe of probes) yield `${from} > ${to} ${probe}`;
}
