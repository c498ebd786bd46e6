// The kubernetes datastore against a real kube-apiserver: lists, watches, writes, restarts and rotated credentials.
import { deepEqual, equal, rejects } from "node:assert/strict";
import { copyFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Clock, silentLog, systemClock } from "../../src/base/lib/index.ts";
import {
  type KubernetesDatastore,
  openKubernetes,
  type Revision,
  type WatchEvent,
} from "../../src/calico/datastore/index.ts";
import type { Kind } from "../../src/calico/kinds/index.ts";
import { type Cluster, clusterPeer, kubeconfigText, startCluster } from "../kit/cluster.ts";
import { customKinds, installCrds, openCrd, removeCrd } from "../kit/crds.ts";
import { eventually } from "../kit/eventually.ts";
import { followState, listState } from "../kit/follow-state.ts";

const skip = (await clusterPeer()).missing ?? false;
const signal = AbortSignal.timeout(600_000);
let cluster: Cluster;
let datastore: KubernetesDatastore;

before(async () => {
  if (skip) return;
  cluster = await startCluster();
  await installCrds(
    cluster,
    customKinds.map((kind) => openCrd(kind)),
  );
  datastore = await openKubernetes({ kubeconfig: cluster.kubeconfig }, { clock: systemClock, log: silentLog });
});
after(async () => {
  if (skip) return;
  await datastore[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

const named = (name: string, more: object = {}) => ({ metadata: { name }, ...more });
const open = (kubeconfig: string, clock: Clock = systemClock) =>
  openKubernetes({ kubeconfig }, { clock, log: silentLog });

test("a list is streamed, all of it once, and ends with its revision", { skip }, async () => {
  await fill("GlobalNetworkSet", 300);
  const pages = await Array.fromAsync(datastore.list("GlobalNetworkSet", { signal }));
  const names = pages.flatMap(({ items }) => items.map(({ id }) => id.name));
  deepEqual([names.length, new Set(names).size], [300, 300]);
  deepEqual(
    pages.map(({ revision }) => revision !== ""),
    pages.map((_, at) => at === pages.length - 1),
  );
});

test("a watch goes on from a list's revision, event by event", { skip }, async () => {
  const at = (await Array.fromAsync(datastore.list("Tier", { signal }))).at(-1)?.revision as Revision;
  const events = take("Tier", at, 3);
  const made = await datastore.create("Tier", named("t", { spec: { order: 1 } }));
  const changed = await datastore.update("Tier", { ...made, value: named("t", { spec: { order: 2 } }) });
  await datastore.delete("Tier", made.id, { revision: changed.revision });
  deepEqual(
    (await events).map((event) => [event.is, event.is === "set" ? event.object.revision : ""]),
    [
      ["set", made.revision],
      ["set", changed.revision],
      ["delete", ""],
    ],
  );
});

test("writes swap only what they have seen", { skip }, async () => {
  const made = await datastore.create("NetworkSet", { metadata: { name: "n", namespace: "default" } });
  await rejects(datastore.create("NetworkSet", made.value), { code: "exists" });
  const changed = await datastore.update("NetworkSet", {
    ...made,
    value: { ...Object(made.value), spec: { nets: [] } },
  });
  await rejects(datastore.update("NetworkSet", made), { code: "conflict" });
  await rejects(datastore.delete("NetworkSet", made.id, { revision: made.revision }), { code: "conflict" });
  equal((await datastore.get("NetworkSet", made.id))?.revision, changed.revision);
  await datastore.delete("NetworkSet", made.id);
  equal(await datastore.get("NetworkSet", made.id), undefined);
  await rejects(datastore.delete("NetworkSet", made.id), { code: "not-found" });
});

test("numbers beyond 2^53 survive the round trip", { skip }, async () => {
  const spec = { sequenceNumber: 1786521467890123457n };
  const made = await datastore.create("IPAMBlock", named("10-0-0-0-26", { spec }));
  const read = await datastore.get("IPAMBlock", made.id);
  deepEqual([Object(made.value).spec, Object(read?.value).spec], [spec, spec]);
});

test("a follower survives the death of the API server, and misses nothing", { skip }, async () => {
  await using state = followState(datastore, "Tier");
  await using own = await open(cluster.kubeconfig);
  await eventually(state.isInSync, "in sync");
  await datastore.create("Tier", named("before"));
  await eventually(() => state.objects.has("/before"), "the first object");
  await cluster.apiserver.kill();
  await eventually(() => state.follower.report.errors > 0, "the loss is noticed");
  await cluster.apiserver.start();
  await own.create("Tier", named("after"));
  await own.delete("Tier", { namespace: "", name: "before" });
  await eventually(
    () => state.objects.has("/after") && !state.objects.has("/before"),
    "the second object, not the first",
  );
  deepEqual(state.objects, await listState(own, "Tier"));
  equal(state.statuses.includes(0), false);
});

test("a revision the server no longer has is expired", { skip }, async () => {
  const made = await datastore.create("HostEndpoint", named("h"));
  await datastore.update("HostEndpoint", { ...made, value: named("h", { spec: {} }) });
  // A server that has just started has no history in its memory, and for a moment not even the present.
  await cluster.apiserver.kill();
  await cluster.apiserver.start();
  const isAnswered = () =>
    listState(datastore, "HostEndpoint").then(
      () => true,
      () => false,
    );
  await eventually(isAnswered, "the server has the kind in memory");
  await rejects(take("HostEndpoint", made.revision, 1), { code: "expired" });
});

test("a definition that comes and goes: empty, filled, empty", { skip }, async () => {
  await removeCrd(cluster, "bgpfilters.crd.projectcalico.org");
  await using state = followState(datastore, "BGPFilter", { limits: { pollIntervalMs: 50, attemptIntervalMs: 20 } });
  await eventually(state.isInSync, "in sync without the definition");
  await installCrds(cluster, [openCrd("BGPFilter")]);
  await datastore.create("BGPFilter", named("f"));
  await eventually(() => state.objects.has("/f"), "the object");
  await removeCrd(cluster, "bgpfilters.crd.projectcalico.org");
  await eventually(() => state.objects.size === 0, "no object");
  deepEqual(state.statuses, [1, 2]);
  await installCrds(cluster, [openCrd("BGPFilter")]);
});

test("a rotated token is read when the old one is refused", { skip }, async () => {
  const rules = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];
  const tokenFile = join(cluster.dir, "token");
  for (const name of ["first", "second"]) {
    await cluster.grant(name, { kind: "ServiceAccount", name, namespace: "default" }, rules);
  }
  const tokens = { first: await cluster.makeToken("first"), second: await cluster.makeToken("second") };
  await writeFile(tokenFile, tokens.first);
  const kubeconfig = join(cluster.dir, "token.kubeconfig");
  await writeFile(kubeconfig, kubeconfigText({ server: cluster.server, dir: cluster.dir, user: { tokenFile } }));
  await using own = await open(kubeconfig);
  await using state = followState(own, "Tier");
  await eventually(state.isInSync, "in sync");
  await cluster.must("DELETE", "/api/v1/namespaces/default/serviceaccounts/first");
  await eventually(
    () =>
      own.get("Tier", { namespace: "", name: "x" }).then(
        () => false,
        () => true,
      ),
    "the old token is refused",
  );
  await writeFile(`${tokenFile}.new`, tokens.second);
  await rename(`${tokenFile}.new`, tokenFile);
  await own.create("Tier", named("rotated"));
  await eventually(() => state.objects.has("/rotated"), "the follower goes on");
});

test("a rotated client certificate is used for new connections", { skip }, async () => {
  const all = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];
  await cluster.grant("newcomer", { kind: "User", name: "newcomer" }, all);
  const kubeconfig = await cluster.makeUser("stranger");
  await cluster.makeUser("newcomer");
  let laterMs = 0;
  const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + laterMs };
  await using own = await open(kubeconfig, clock);
  await rejects(Array.fromAsync(own.list("Tier", { signal })), { code: "forbidden" });
  for (const end of ["crt", "key"]) {
    await copyFile(join(cluster.dir, `newcomer.${end}`), join(cluster.dir, `stranger.${end}`));
  }
  laterMs = 61_000;
  await Array.fromAsync(own.list("Tier", { signal }));
});

test("an expired client certificate is unauthorized", { skip }, async () => {
  const kubeconfig = await cluster.makeUser("expired", { groups: ["system:masters"], seconds: -60 });
  await using own = await open(kubeconfig);
  await rejects(own.get("Tier", { namespace: "", name: "x" }), { code: "unauthorized" });
});

async function fill(kind: Kind, count: number): Promise<void> {
  let next = 0;
  const work = async () => {
    for (let i = next++; i < count; i = next++) {
      const plural = `${kind.toLowerCase()}s`;
      await cluster.must("POST", `/apis/crd.projectcalico.org/v1/${plural}`, {
        apiVersion: "crd.projectcalico.org/v1",
        kind,
        metadata: { name: `x-${i}` },
      });
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
}

async function take(kind: Kind, from: Revision, count: number): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  for await (const together of datastore.watch(kind, { from, signal })) {
    events.push(...together.filter((event) => event.is !== "bookmark"));
    if (events.length >= count) break;
  }
  return events.slice(0, count);
}
