// Missing rights against a real kube-apiserver: a kind that does not exist, one that may not be read, and the role of
// the hard-way guides, with which today's original never becomes ready.
import { deepEqual, equal, rejects } from "node:assert/strict";
import { after, before, test } from "node:test";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { openKubernetes } from "../../src/calico/datastore/index.ts";
import { followedKinds, kindInfo } from "../../src/calico/kinds/index.ts";
import { type Cluster, clusterPeer, type Rule, startCluster } from "../kit/cluster.ts";
import { hardWayKinds, installCrds, openCrd } from "../kit/crds.ts";
import { eventually } from "../kit/eventually.ts";
import { followState } from "../kit/follow-state.ts";

const skip = (await clusterPeer()).missing ?? false;
const verbs = ["get", "list", "watch"];
const hardWayRules: Rule[] = [
  { apiGroups: [""], resources: ["pods", "namespaces", "serviceaccounts", "endpoints", "services", "nodes"], verbs },
  { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs },
  {
    apiGroups: ["crd.projectcalico.org"],
    resources: [
      "globalfelixconfigs",
      "felixconfigurations",
      "bgppeers",
      "globalbgpconfigs",
      "bgpconfigurations",
      "ippools",
      "ipamblocks",
      "globalnetworkpolicies",
      "globalnetworksets",
      "networkpolicies",
      "networksets",
      "clusterinformations",
      "hostendpoints",
      "blockaffinities",
    ],
    verbs,
  },
];

let cluster: Cluster;
before(async () => {
  if (skip) return;
  cluster = await startCluster();
  await installCrds(
    cluster,
    hardWayKinds.map((kind) => openCrd(kind)),
  );
});
after(() => (skip ? undefined : cluster[Symbol.asyncDispose]()));

async function openAs(name: string, rules: Rule[]) {
  const kubeconfig = await cluster.makeUser(name);
  await cluster.grant(name, { kind: "User", name }, rules);
  const datastore = await openKubernetes({ kubeconfig }, { clock: systemClock, log: silentLog });
  await eventually(async () => (await datastore.mayI("list", "Pod")).may, "the server knows the role");
  return datastore;
}

test("with the hard-way role, on a cluster of that time, every kind gets in sync", { skip }, async () => {
  await using datastore = await openAs("hard-way", hardWayRules);
  const states = followedKinds
    .filter((kind) => kindInfo(kind).kubernetes !== undefined)
    .map((kind) => ({ kind, state: followState(datastore, kind) }));
  const late = () => states.filter(({ state }) => !state.isInSync()).map(({ kind }) => kind);
  await eventually(() => late().length === 0, "all kinds are in sync");
  const odd = states.filter(({ state }) => state.follower.report.state !== "watching");
  const byState = Object.groupBy(odd, ({ state }) => state.follower.report.state);
  deepEqual(
    byState.forbidden?.map(({ kind }) => kind),
    ["EndpointSlice"],
  );
  deepEqual(
    byState.polling?.map(({ kind }) => kind),
    [
      "StagedGlobalNetworkPolicy",
      "StagedNetworkPolicy",
      "StagedKubernetesNetworkPolicy",
      "Tier",
      "BGPFilter",
      "CalicoNodeStatus",
    ],
  );
  for (const { state } of states) await state[Symbol.asyncDispose]();
});

test("a kind that carries enforcement and may not be read stays unready, and says what to grant", {
  skip,
}, async () => {
  const rules = hardWayRules.filter((rule) => rule.apiGroups[0] !== "networking.k8s.io");
  await using datastore = await openAs("almost", rules);
  const limits = { attemptIntervalMs: 20, listRetryMs: 20 };
  await using state = followState(datastore, "KubernetesNetworkPolicy", { limits });
  const rule =
    '- apiGroups: ["networking.k8s.io"]\n  resources: ["networkpolicies"]\n  verbs: ["get", "list", "watch"]\n';
  await eventually(() => state.follower.report.errors > 3, "the refusal");
  deepEqual([state.follower.report.state, state.follower.report.missingRule], ["forbidden", rule]);
  deepEqual(state.statuses, []);
  // Granting it is enough; nothing is restarted.
  await cluster.grant("almost", { kind: "User", name: "almost" }, hardWayRules);
  await eventually(state.isInSync, "in sync");
  equal(state.follower.report.missingRule, undefined);
});

test("an optional kind that may not be read is empty until it may", { skip }, async () => {
  await using datastore = await openAs("optional", hardWayRules);
  await using state = followState(datastore, "EndpointSlice", { limits: { forbiddenRetryMs: 20 } });
  await eventually(state.isInSync, "in sync");
  const allowed = { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs };
  equal(state.objects.size, 0);
  await cluster.grant("optional", { kind: "User", name: "optional" }, [...hardWayRules, allowed]);
  await cluster.must("POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
    metadata: { name: "slice" },
    addressType: "IPv4",
    endpoints: [],
  });
  await eventually(() => state.objects.has("default/slice"), "the slice");
  deepEqual(state.statuses, [1, 2]);
});

test("the server is asked what we may do", { skip }, async () => {
  await using datastore = await openAs("asking", [hardWayRules[0] as Rule]);
  deepEqual(await datastore.mayI("list", "Pod"), { may: true });
  deepEqual(await datastore.mayI("create", "Tier"), {
    may: false,
    missingRule: '- apiGroups: ["crd.projectcalico.org"]\n  resources: ["tiers"]\n  verbs: ["create"]\n',
  });
  deepEqual([await datastore.isServed("Pod"), await datastore.isServed("Tier")], [true, false]);
  await rejects(datastore.create("IPPool", { metadata: { name: "p" } }), {
    code: "forbidden",
    missingRule: '- apiGroups: ["crd.projectcalico.org"]\n  resources: ["ippools"]\n  verbs: ["create"]\n',
  });
});
