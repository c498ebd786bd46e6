// What writing to a real kube-apiserver has of its own: grace periods, subresources, rights, kinds that are not installed.
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { after, before, test } from "node:test";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { type DatastoreError, type KubernetesDatastore, openKubernetes } from "../../src/calico/datastore/index.ts";
import { type Cluster, clusterPeer, startCluster } from "../kit/cluster.ts";
import { installCrds, openCrd } from "../kit/crds.ts";

const skip = (await clusterPeer()).missing ?? false;
const id = (name: string, namespace = "") => ({ namespace, name });

let cluster: Cluster;
let datastore: KubernetesDatastore;
const open = (kubeconfig: string) => openKubernetes({ kubeconfig }, { clock: systemClock, log: silentLog });
before(async () => {
  if (skip) return;
  cluster = await startCluster();
  await installCrds(cluster, [openCrd("Tier")]);
  datastore = await open(cluster.kubeconfig);
});
after(async () => {
  await datastore?.[Symbol.asyncDispose]();
  await cluster?.[Symbol.asyncDispose]();
});

const pod = (name: string) => ({
  metadata: { name, namespace: "default" },
  spec: { nodeName: "n1", containers: [{ name: "c", image: "none" }] },
});

test("a pod is deleted with its own grace period, and killed only when asked for", { skip }, async () => {
  await datastore.create("Pod", pod("graceful"));
  await datastore.delete("Pod", id("graceful", "default"));
  const { metadata } = Object((await datastore.get("Pod", id("graceful", "default")))?.value);
  equal(metadata.deletionGracePeriodSeconds, 30);
  await datastore.delete("Pod", id("graceful", "default"), { gracePeriodSeconds: 0 });
  equal(await datastore.get("Pod", id("graceful", "default")), undefined);
});

test("a node's status is a subresource: an update leaves it, and a status leaves all else", { skip }, async () => {
  const made = await datastore.create("Node", { metadata: { name: "n1" }, spec: { podCIDR: "10.0.0.0/24" } });
  const value = Object(made.value);
  const condition = { type: "NetworkUnavailable", status: "False", reason: "CalicoIsUp", message: "up" };
  const updated = await datastore.update("Node", { ...made, value: { ...value, status: { conditions: [condition] } } });
  equal(Object(updated.value).status.conditions, undefined);
  const status = { conditions: [condition] };
  const ready = await datastore.updateStatus("Node", { ...updated, value: { ...value, spec: {}, status } });
  deepEqual(
    [Object(ready.value).spec.podCIDR, Object(ready.value).status.conditions[0].type],
    ["10.0.0.0/24", condition.type],
  );
  const patched = await datastore.patch("Node", made.id, { metadata: { annotations: { "projectcalico.org/a": "b" } } });
  equal(Object(patched.value).metadata.annotations["projectcalico.org/a"], "b");
});

test("a namespace that is not there is named", { skip }, async () => {
  const lost = { ...pod("lost"), metadata: { name: "lost", namespace: "nowhere" } };
  await rejects(datastore.create("Pod", lost), (error: DatastoreError) => {
    equal(error.code, "not-found");
    match(error.message, /namespaces "nowhere" not found/);
    return true;
  });
});

test("who may do nothing is told which right is missing, or that the kind is", { skip }, async () => {
  await using stranger = await open(await cluster.makeUser("stranger"));
  const outcomes: unknown[] = [];
  const note = (error: DatastoreError) => outcomes.push([error.code, error.missingRule ?? error.next]);
  await stranger.get("Tier", id("a")).catch(note);
  await stranger.create("Tier", { metadata: { name: "a" } }).catch(note);
  await stranger.patch("Node", id("n1"), { status: {} }).catch(note);
  await stranger.delete("Tier", id("a")).catch(note);
  await stranger.get("IPPool", id("a")).catch(note);
  await stranger.create("IPPool", { metadata: { name: "a" } }).catch(note);
  const rule = (group: string, resource: string, verbs: string) =>
    `- apiGroups: ["${group}"]\n  resources: ["${resource}"]\n  verbs: [${verbs}]\n`;
  const advice =
    "install Calico's resource definitions: cattail manifests crds | kubectl apply -f -, with --only IPPool for this one alone";
  deepEqual(outcomes, [
    ["forbidden", rule("crd.projectcalico.org", "tiers", '"get", "list", "watch"')],
    ["forbidden", rule("crd.projectcalico.org", "tiers", '"create"')],
    ["forbidden", rule("", "nodes/status", '"patch"')],
    ["forbidden", rule("crd.projectcalico.org", "tiers", '"delete"')],
    ["no-such-kind", advice],
    ["no-such-kind", advice],
  ]);
});
