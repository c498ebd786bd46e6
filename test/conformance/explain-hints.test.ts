// "What would change it" of explain, followed: in random clusters the object that a hint names is changed as it says, and the verdict must turn.
// A hint is about the one stage that denies, so it may take several, each of which comes further on the way.
// CATTAIL_CLUSTERS says how many clusters, CATTAIL_SEED which.
import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { parseSubject } from "../../src/calico/explain/index.ts";
import { FollowedCluster } from "../kit/kubernetes-policy/following.ts";
import type { OracleCluster } from "../kit/kubernetes-policy/objects.ts";
import { randomKubernetesCluster } from "../kit/kubernetes-policy/random-objects.ts";
import { worldOfCluster } from "../kit/kubernetes-policy/world.ts";
import { type ApiObject, PolicyWorld } from "../kit/policy-world.ts";
import { type Random, seededRandom, testSeed } from "../kit/random.ts";

const clusters = Number(process.env.CATTAIL_CLUSTERS ?? 40);
const { pods } = new PolicyWorld();
const ends = [
  ...pods.map(({ namespace, name }) => `${namespace}/${name}`),
  "192.0.2.11",
  "192.0.2.12",
  "node/node-a",
  "node/node-b",
];
const traffic = [
  ["tcp", 80],
  ["tcp", 8080],
  ["udp", 53],
  ["icmp", undefined],
] as const;
const mostSteps = 8;

test(`${clusters} random clusters: the verdict turns when hints are followed`, () => {
  const seed = testSeed();
  let turned = 0;
  for (let number = 0; number < clusters; number += 1) {
    const own = (seed + number) >>> 0;
    const random = seededRandom(own);
    const objects = randomKubernetesCluster(random, pods);
    const policies = [...policiesOf(objects), ...calicoPolicies(random)];
    const world = worldOfCluster({ ...objects, networkPolicies: [], clusterPolicies: [] });
    world.write({ apiVersion: "crd.projectcalico.org/v1", kind: "Tier", metadata: { name: "t1" }, spec: { order: 5 } });
    if (random.isOneIn(3)) world.write(hostEndpoint(random));
    const cluster = new FollowedCluster(world, policies);
    for (let flow = 0; flow < 12; flow += 1) {
      turned += turn(cluster, random, `the cluster of seed ${own}`);
      cluster.putBack();
    }
  }
  ok(turned > clusters, `${turned} verdicts have turned`);
});

/** 1 if the verdict has turned, 0 where nothing would turn it. */
function turn(cluster: FollowedCluster, random: Random, about: string): number {
  const [from, to] = [random.pick(ends), random.pick(ends)];
  const [protocol, port] = random.pick(traffic);
  if (from === to || !(from + to).includes("/")) return 0;
  const [source, destination] = [parseSubject(from, "red"), parseSubject(to, "red")];
  const asked = { source, destination, protocol, port, family: 4 } as const;
  const first = cluster.ask(asked);
  const log = [`${about}: ${from} > ${to} ${protocol} ${port}: ${first.answered.verdict?.verdict}`];
  let now = first;
  for (let step = 0; step < mostSteps; step += 1) {
    const { hint } = now;
    // A setting decides, or the way itself, or a profile that somebody wrote: no change of a policy is proposed.
    if (hint === undefined && (step === 0 || now.answered.verdict?.decisive?.reason !== undefined)) return 0;
    if (hint === undefined) break;
    if (hint.includes("let the answer pass, too")) return 0; // without an example
    log.push(hint);
    equal(cluster.follow(hint), true, log.join("\n"));
    now = cluster.ask(asked);
    if (now.answered.verdict?.verdict !== first.answered.verdict?.verdict) return 1;
    ok(hint.includes("Then ask again"), `not turned, and no word that it may not\n${log.join("\n")}`);
  }
  throw new Error(`not turned after ${mostSteps} steps\n${log.join("\n")}`);
}

function hostEndpoint(random: Random): ApiObject {
  const where = random.pick([{ interfaceName: "eth0" }, { interfaceName: "*" }]);
  const profiles = random.isOneIn(2) ? ["projectcalico-default-allow"] : [];
  return {
    apiVersion: "crd.projectcalico.org/v1",
    kind: "HostEndpoint",
    metadata: { name: "h", labels: { app: random.pick(["a", "b"]), tier: "a" } },
    spec: { node: "node-a", expectedIPs: ["192.0.2.1"], profiles, ...where },
  };
}

/** With directions, as the API server fills them in once and for all. */
function policiesOf({ networkPolicies, clusterPolicies }: OracleCluster): readonly ApiObject[] {
  return [
    ...networkPolicies.map(({ namespace, name, spec }) => {
      const { policyTypes = spec.egress === undefined ? ["Ingress"] : ["Ingress", "Egress"] } = spec;
      const kind = { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy" };
      return { ...kind, metadata: { namespace, name }, spec: { ...spec, policyTypes } };
    }),
    ...clusterPolicies.map(({ name, spec }) => {
      const kind = { apiVersion: "policy.networking.k8s.io/v1alpha2", kind: "ClusterNetworkPolicy" };
      return { ...kind, metadata: { name }, spec };
    }),
  ];
}

function calicoPolicies(random: Random): readonly ApiObject[] {
  const rule = () => ({
    action: random.pick(["Allow", "Allow", "Deny", "Pass", "Log"]),
    ...(random.isOneIn(2) ? { protocol: random.pick(["TCP", "UDP", "ICMP"]) } : {}),
    ...(random.isOneIn(3) ? { source: { selector: random.pick(["app == 'a'", "has(tier)", "all()"]) } } : {}),
    ...(random.isOneIn(4) ? { destination: { nets: [random.pick(["10.65.0.0/16", "192.0.2.0/24"])] } } : {}),
  });
  return Array.from({ length: random.below(4) }, (_, number) => {
    const isGlobal = random.isOneIn(2);
    return {
      apiVersion: "crd.projectcalico.org/v1",
      kind: isGlobal ? "GlobalNetworkPolicy" : "NetworkPolicy",
      metadata: { name: `g${number}`, ...(isGlobal ? {} : { namespace: random.pick(["red", "blue", "green"]) }) },
      spec: {
        tier: random.pick(["default", "t1"]),
        order: random.pick([1, 500, 2000]),
        selector: random.pick(["app == 'a'", "has(tier)", "all()"]),
        ...(isGlobal
          ? random.pick([{}, {}, { applyOnForward: true }, { applyOnForward: true, doNotTrack: true }])
          : {}),
        types: random.pick([["Ingress"], ["Egress"], ["Ingress", "Egress"]]),
        ingress: Array.from({ length: random.below(3) }, rule),
        egress: Array.from({ length: random.below(3) }, rule),
      },
    };
  });
}
