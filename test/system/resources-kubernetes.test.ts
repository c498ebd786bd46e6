// v3 objects in a real API server: recorded runs of the original's calicoctl leave the same objects behind.
import { deepEqual } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isRecord, type JsonRecord, silentLog, systemClock } from "../../src/base/lib/index.ts";
import { type KubernetesDatastore, openKubernetes } from "../../src/calico/datastore/index.ts";
import { crdManifest, customKinds, kindInfo } from "../../src/calico/kinds/index.ts";
import { openResources } from "../../src/calico/resources/index.ts";
import { type Cluster, clusterPeer, startCluster } from "../kit/cluster.ts";
import { installCrds } from "../kit/crds.ts";
import { type Case, casesOn, comparable, masked, runCase } from "./resources-golden.ts";

const api = "/apis/crd.projectcalico.org/v1";
const peer = await clusterPeer();

describe("recorded runs of calicoctl, on Kubernetes", { skip: peer.missing ?? false }, () => {
  let cluster: Cluster;
  let datastore: KubernetesDatastore;
  before(async () => {
    cluster = await startCluster();
    await installCrds(
      cluster,
      customKinds.map((kind) => crdManifest(kind)),
    );
    const settings = { kubeconfig: cluster.kubeconfig, clientQps: 1000, clientBurst: 1000 };
    datastore = await openKubernetes(settings, { clock: systemClock, log: silentLog });
  });
  after(async () => {
    await datastore?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  for (const each of casesOn("kubernetes").filter(({ steps }) => !steps.some((step) => "as" in step))) {
    test(`${each.name}: ${each.about}`, async () => {
      await clean(cluster);
      for (const object of each.initial) await create(cluster, object);
      const fill = async (text: string) => {
        const revisions = await revisionsOf(cluster);
        return text.replaceAll(/@\{rv:([^}]+)\}/g, (_, ref: string) => revisions.get(ref) ?? "");
      };
      await runCase(each, { datastore, resources: openResources(datastore), fill });
      deepEqual(await stored(cluster, each), masked(each.expected.stored.objects));
    });
  }
});

async function revisionsOf(cluster: Cluster): Promise<ReadonlyMap<string, string>> {
  const found = await items(cluster, `${api}/ippools`);
  return new Map(found.map((pool) => [`ippools/${metadataOf(pool).name}`, String(metadataOf(pool).resourceVersion)]));
}

function metadataOf(object: JsonRecord): JsonRecord {
  return isRecord(object.metadata) ? object.metadata : {};
}

function nameOf(object: JsonRecord): string {
  return `${object.kind}/${metadataOf(object).name}`;
}

async function items(cluster: Cluster, path: string): Promise<JsonRecord[]> {
  const list = (await cluster.must("GET", path)) as { items?: JsonRecord[] };
  return list.items ?? [];
}

const parsed = ["projectcalico.org/metadata", "projectcalico.org/labels", "projectcalico.org/annotations"];

async function stored(cluster: Cluster, each: Case): Promise<unknown> {
  const found: JsonRecord[] = [];
  for (const kind of customKinds) {
    for (const object of await items(cluster, `${api}/${kindInfo(kind).kubernetes?.plural}`)) {
      const { apiVersion: _, ...rest } = object;
      found.push(withParsed({ ...rest, kind }));
    }
  }
  for (const [path, kind] of [
    ["nodes", "v1 Node"],
    ["pods", "v1 Pod"],
  ]) {
    for (const object of await items(cluster, `/api/v1/${path}`)) {
      const { name, namespace, labels, annotations } = metadataOf(object);
      const metadata = JSON.parse(JSON.stringify({ name, namespace, labels, annotations }));
      found.push(withParsed({ kind, metadata }));
    }
  }
  const keyOf = (object: JsonRecord) =>
    `${object.kind}\u0000${metadataOf(object).namespace ?? ""}\u0000${metadataOf(object).name}`;
  found.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return comparable(found, each, nameOf);
}

/** JSON inside an annotation is compared as JSON. */
function withParsed(object: JsonRecord): JsonRecord {
  const { annotations, ...metadata } = metadataOf(object);
  if (!isRecord(annotations)) return object;
  const read = Object.entries(annotations).map(([key, text]) => [
    key,
    parsed.includes(key) ? JSON.parse(String(text)) : text,
  ]);
  return { ...object, metadata: { ...metadata, annotations: Object.fromEntries(read) } };
}

function pathOf({ apiVersion, kind }: JsonRecord, { namespace }: JsonRecord): string {
  const plurals: Record<string, string> = { NetworkPolicy: "networkpolicies", ServiceAccount: "serviceaccounts" };
  const plural =
    customKinds.map((each) => (each === kind ? kindInfo(each).kubernetes?.plural : undefined)).find(Boolean) ??
    plurals[String(kind)] ??
    `${String(kind).toLowerCase()}s`;
  const group = String(apiVersion).includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${group}${namespace === undefined ? "" : `/namespaces/${namespace}`}/${plural}`;
}

async function create(cluster: Cluster, object: JsonRecord): Promise<void> {
  const metadata = metadataOf(object);
  const isNamespaced = ["Pod", "ServiceAccount", "NetworkPolicy", "NetworkSet"].includes(String(object.kind));
  const place = isNamespaced ? { namespace: metadata.namespace ?? "default" } : {};
  // The recorder marked the accounts it made.
  const labels = object.kind === "ServiceAccount" ? { "ctl-golden": "true" } : {};
  const marked = {
    ...metadata,
    ...(isRecord(metadata.labels) || object.kind === "ServiceAccount"
      ? { labels: { ...(isRecord(metadata.labels) ? metadata.labels : {}), ...labels } }
      : {}),
  };
  const path = pathOf(object, place);
  await cluster.must("POST", path, { ...object, metadata: marked });
  if (object.kind === "Node" || object.kind === "Pod") {
    const at = `${path}/${metadata.name}`;
    const now = (await cluster.must("GET", at)) as JsonRecord;
    if (object.status !== undefined) await cluster.must("PUT", `${at}/status`, { ...now, status: object.status });
  }
}

const systemNamespaces = ["default", "kube-node-lease", "kube-public", "kube-system"];

async function clean(cluster: Cluster): Promise<void> {
  const plurals = customKinds.map((kind) => `${api}/${kindInfo(kind).kubernetes?.plural}`);
  const others = [
    "/api/v1/nodes",
    "/api/v1/pods",
    "/api/v1/serviceaccounts",
    "/apis/networking.k8s.io/v1/networkpolicies",
  ];
  for (const path of [...plurals, ...others]) {
    for (const object of await items(cluster, path)) {
      const { namespace, name } = metadataOf(object);
      const at = namespace === undefined ? path : path.replace(/\/([^/]+)$/, `/namespaces/${namespace}/$1`);
      await cluster.must("DELETE", `${at}/${name}`, { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0 });
    }
  }
  for (const namespace of await items(cluster, "/api/v1/namespaces")) {
    const name = String(metadataOf(namespace).name);
    if (systemNamespaces.includes(name)) continue;
    await cluster.ask("DELETE", `/api/v1/namespaces/${name}`);
    const { resourceVersion: _, ...metadata } = metadataOf(namespace);
    await cluster.ask("PUT", `/api/v1/namespaces/${name}/finalize`, {
      ...namespace,
      metadata,
      spec: { finalizers: [] },
    });
    while ((await cluster.ask("GET", `/api/v1/namespaces/${name}`)).status !== 404);
  }
}
