// The golden corpus through a real kube-apiserver: each case's steps are applied, our followers and syncers watch, and
// what they say of every write is compared with the recording; then a second set starts cold, and watches the next case.
// This catches what the API server does on the way: defaults, pruning, refusals, and the order of events.
import { deepEqual } from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { follow, type KubernetesDatastore, openKubernetes } from "../../src/calico/datastore/index.ts";
import { crdManifest, customKinds, followedKinds, type Kind } from "../../src/calico/kinds/index.ts";
import { type SyncerType, syncerTypes } from "../../src/calico/model/index.ts";
import { initialiseDatastore } from "../../src/calico/resources/index.ts";
import type { ExpectedEvent, ExpectedKv, ExpectedSnapshot, ExpectedWrite } from "../conformance/golden-case.ts";
import { compareEvents, compareSnapshot, type Finding, place } from "../conformance/golden-compare.ts";
import { createReplay, writeToEvent } from "../conformance/golden-replay.ts";
import { type Cluster, clusterPeer, startCluster } from "../kit/cluster.ts";
import { installCrds, removeCrd } from "../kit/crds.ts";
import { eventually } from "../kit/eventually.ts";
import { listState } from "../kit/follow-state.ts";
import { shareOf } from "../kit/share.ts";
import { type ApiObject, Applied, labelOf, type Step, type Unit, unitsOf } from "./golden-apply.ts";
import { Normaliser } from "./golden-normalise.ts";

const root = "test/vectors/golden/cases";
type Steps = { env?: { USE_POD_CIDR?: string }; prepare?: ApiObject[]; noCold?: boolean; steps: Step[] };

const peer = await clusterPeer();
describe("the golden corpus through a real API server", { skip: peer.missing ?? false }, () => {
  let cluster: Cluster;
  let datastore: KubernetesDatastore;
  /** The set that started cold in the case before, and has seen it undone. */
  let left: Watching | undefined;
  // What was written to since everything was last known to be heard of: other kinds need not be looked at.
  const unsettled = new Set<Kind>(followedKinds);

  before(async () => {
    cluster = await startCluster();
    await installCrds(cluster, [...customKinds.map((kind) => crdManifest(kind)), clusterNetworkPolicyCrd]);
    const settings = { kubeconfig: cluster.kubeconfig, clientQps: 1000, clientBurst: 1000 };
    datastore = await openKubernetes(settings, { clock: systemClock, log: silentLog });
    const signal = AbortSignal.timeout(60_000);
    const newClusterGuid = () => "0123456789abcdef0123456789abcdef";
    await initialiseDatastore(datastore, {
      clock: systemClock,
      log: silentLog,
      signal,
      newClusterGuid,
      clusterTypes: ["typha"],
    });
  });
  after(async () => {
    await dismissLeft();
    await datastore?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  // All of them are also replayed without a server, each time: test/conformance/golden.test.ts.
  const cases = shareOf(readdirSync(root).sort()).map((name) => readCase(name));
  // The one with the most writes comes last: nobody follows for whom it would have to be undone.
  cases.sort((one, other) => one.writes - other.writes);
  for (const { name, text, steps } of cases) {
    test(`${name} is what the real Typha says`, async () => {
      const crds = steps.prepare ?? [];
      if (crds.length > 0) {
        await dismissLeft(); // it may take half an hour to look for a kind again that was missing
        await installCrds(cluster, crds);
      }
      try {
        const findings = await runCase(name, steps, new Normaliser(text));
        const wrong = findings.filter(({ verdict }) => verdict === "different").map((finding) => finding.text);
        deepEqual(wrong.slice(0, 6), [], wrong.slice(0, 6).join("\n"));
      } finally {
        if (crds.length > 0) await dismissLeft();
        for (const crd of crds) await removeCrd(cluster, crd.metadata.name);
      }
    });
  }

  async function takeWatching(usePodCidr: boolean): Promise<Watching> {
    if (left?.usePodCidr !== usePodCidr) await dismissLeft();
    const watching = left ?? startWatching(datastore, { usePodCidr, unsettled });
    left = undefined;
    await watching.settle();
    watching.forget();
    unsettled.clear();
    return watching;
  }

  async function dismissLeft(): Promise<void> {
    await left?.[Symbol.asyncDispose]();
    left = undefined;
  }

  async function runCase(name: string, { env, noCold, steps }: Steps, normaliser: Normaliser): Promise<Finding[]> {
    const usePodCidr = env?.USE_POD_CIDR === "true";
    const applied = new Applied(cluster);
    await using watching = await takeWatching(usePodCidr);
    const base = watching.snapshots();
    const findings: Finding[] = [];
    const recorded = new Map(
      syncerTypes.map((syncer) => [syncer, read<{ writes: ExpectedWrite[] }>(name, syncer, "deltas")]),
    );
    try {
      let at = 0;
      for (const step of steps) {
        const units = unitsOf(step);
        for (const group of step.template === undefined ? units.map((unit) => [unit]) : [units]) {
          // Those of a bulk step are seen together as well.
          const written: [Unit, ApiObject][] = [];
          for (const unit of group) {
            const answer = await applied.write(unit);
            if (answer === undefined) continue;
            normaliser.learn(answer);
            written.push([unit, answer]);
          }
          for (const [unit, answer] of written) await watching.untilSeen(unit, answer);
          for (const syncer of syncerTypes) {
            const seen = watching.take(syncer).map((event) => normalised(event, normaliser));
            const expected = recorded.get(syncer)?.writes[at];
            const where = place(syncer, `write ${at} (${step.op})`);
            if (expected !== undefined) findings.push(...compareEvents(seen, expected, where));
          }
          at += 1;
        }
      }
      await watching.settle();
      findings.push(...compareAll(name, "snapshot", watching.snapshots()));
      if (!noCold) {
        left = startWatching(datastore, { usePodCidr, unsettled });
        await left.settle();
        findings.push(...compareAll(name, "cold", left.snapshots()));
      }
    } finally {
      if (name !== cases.at(-1)?.name) await applied.undo();
    }
    return findings;

    function compareAll(caseName: string, form: "snapshot" | "cold", snapshots: Snapshots): Finding[] {
      return syncerTypes.flatMap((syncer) => {
        const cold = form === "cold" ? read<ExpectedSnapshot>(caseName, syncer, "cold") : undefined;
        const expected = cold ?? read<ExpectedSnapshot>(caseName, syncer);
        if (expected === undefined) return [];
        const ours = normalisedAll(snapshots.get(syncer), normaliser);
        return compareSnapshot(ours, normalisedAll(base.get(syncer), normaliser), expected, place(syncer, form));
      });
    }
  }
});

type Snapshots = ReadonlyMap<SyncerType, ReadonlyMap<string, ExpectedKv>>;

type Watching = ReturnType<typeof startWatching>;

/** Followers of every kind, their syncers, and a client of each. */
function startWatching(
  datastore: KubernetesDatastore,
  { usePodCidr, unsettled }: { usePodCidr: boolean; unsettled: Set<Kind> },
) {
  const replay = createReplay({ flavour: "kubernetes", usePodCidr });
  const controller = new AbortController();
  const { signal } = controller;
  const objects = new Map<Kind, Map<string, string>>();
  const seen = new Map<SyncerType, ExpectedEvent[]>(syncerTypes.map((syncer) => [syncer, []]));
  const limits = { attemptIntervalMs: 10 }; // from its list to its watch half a second would be waited in every case
  const options = { clock: systemClock, log: silentLog, random: Math.random, signal, limits };
  const followers = replay.core.kinds.map((kind) => ({ kind, follower: follow(datastore, kind, options) }));
  const following = followers.map(async ({ kind, follower }) => {
    const known = new Map<string, string>();
    objects.set(kind, known);
    for await (const events of follower) {
      for (const [syncer, said] of replay.feed(kind, events)) seen.get(syncer)?.push(...said);
      for (const event of events) {
        if (event.is === "set")
          known.set(`${event.object.id.namespace}/${event.object.id.name}`, event.object.revision);
        if (event.is === "delete") known.delete(`${event.id.namespace}/${event.id.name}`);
      }
    }
  });
  const isSettled = async () => {
    if (followers.some(({ follower }) => follower.report.status !== 2)) return false;
    const answers = followers.map(async ({ kind, follower }) => {
      const isThere = !["missing", "polling"].includes(follower.report.state);
      if (!isThere || !unsettled.has(kind)) return true;
      return isDeepStrictEqual(await listState(datastore, kind), objects.get(kind));
    });
    return (await Promise.all(answers)).every((isEqual) => isEqual);
  };
  return {
    usePodCidr,
    settle: () => eventually(isSettled, "the followers say what the server holds"),
    forget() {
      for (const list of seen.values()) list.length = 0;
    },
    snapshots: (): Snapshots => new Map(syncerTypes.map((syncer) => [syncer, new Map(replay.snapshot(syncer))])),
    /** What the syncer's client saw since the last time. */
    take: (syncer: SyncerType) => seen.get(syncer)?.splice(0) ?? [],
    async untilSeen({ op, object }: Unit, answer: ApiObject) {
      // The recordings' own reader of answers knows what outlives its deletion.
      const change = writeToEvent({ op, object: labelOf(object), answer: answer as never });
      if (change === undefined || !objects.has(change.kind)) return;
      unsettled.add(change.kind);
      const id = `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
      const revision = change.event.is === "set" ? change.event.object.revision : undefined;
      await eventually(() => objects.get(change.kind)?.get(id) === revision, `${change.kind} ${id} is seen`);
    },
    async [Symbol.asyncDispose]() {
      controller.abort();
      await Promise.all(following);
    },
  };
}

function readCase(name: string): { name: string; text: string; steps: Steps; writes: number } {
  const text = readFileSync(`${root}/${name}/steps.json`, "utf8");
  const steps: Steps = JSON.parse(text);
  return { name, text, steps, writes: steps.steps.reduce((sum, step) => sum + unitsOf(step).length, 0) };
}

function read<T>(name: string, syncer: SyncerType, form?: string): T | undefined {
  const file = `${root}/${name}/expect-${syncer}${form === undefined ? "" : `.${form}`}.json`;
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

function normalised(event: ExpectedEvent, normaliser: Normaliser): ExpectedEvent {
  return "kv" in event ? { kv: normaliser.kv(event.kv) } : event;
}

function normalisedAll(kvs: ReadonlyMap<string, ExpectedKv> = new Map(), normaliser: Normaliser) {
  return new Map([...kvs.values()].map((kv) => normaliser.kv(kv)).map((kv) => [kv.key, kv]));
}

const clusterNetworkPolicyCrd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: {
    name: "clusternetworkpolicies.policy.networking.k8s.io",
    // The API server wants to see that such a group was agreed upon.
    annotations: { "api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/network-policy-api/pull/300" },
  },
  spec: {
    group: "policy.networking.k8s.io",
    scope: "Cluster",
    names: { kind: "ClusterNetworkPolicy", plural: "clusternetworkpolicies", singular: "clusternetworkpolicy" },
    versions: [
      {
        name: "v1alpha2",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};
