// v3 objects in a real API server: recorded runs of the original's calicoctl leave the same objects behind.
import { deepEqual, equal, notEqual, rejects } from "node:assert/strict";
import { after, before, describe, type TestContext, test } from "node:test";
import { isRecord, type JsonRecord, silentLog, systemClock } from "../../src/base/lib/index.ts";
import { type KubernetesDatastore, openKubernetes } from "../../src/calico/datastore/index.ts";
import { crdManifest, customKinds, kindInfo } from "../../src/calico/kinds/index.ts";
import { openResources } from "../../src/calico/resources/index.ts";
import { accountConfig } from "../kit/account-config.ts";
import { type Cluster, clusterPeer, startCluster } from "../kit/cluster.ts";
import { installCrds, removeCrd } from "../kit/crds.ts";
import { eventually } from "../kit/eventually.ts";
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
    datastore = await openAs(cluster.kubeconfig);
  });
  after(async () => {
    await datastore?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  // A streamed list is a watch, and calicoctl's roles allow lists alone.
  const openAs = (kubeconfig: string, more: { apiGroup?: string } = {}) =>
    openKubernetes(
      { kubeconfig, clientQps: 1000, clientBurst: 1000, streamLists: false, ...more },
      { clock: systemClock, log: silentLog },
    );

  async function actingAs(t: TestContext, account: string): Promise<KubernetesDatastore> {
    const [namespace = "", name = ""] = account.split("/");
    const other = await openAs(await accountConfig(cluster, { namespace, name }), {
      apiGroup: "crd.projectcalico.org/v1",
    });
    t.after(() => other[Symbol.asyncDispose]());
    return other;
  }

  for (const each of casesOn("kubernetes")) {
    test(`${each.name}: ${each.about}`, async (t) => {
      await clean(cluster);
      for (const object of each.initial) await create(cluster, object);
      const as = each.steps[0]?.as;
      const acting = as === undefined ? datastore : await actingAs(t, as);
      const fill = async (text: string) => {
        const revisions = await revisionsOf(cluster);
        return text.replaceAll(/@\{rv:([^}]+)\}/g, (_, ref: string) => revisions.get(ref) ?? "");
      };
      await runCase(each, { datastore: acting, resources: openResources(acting), fill });
      deepEqual(await stored(cluster, each), masked(each.expected.stored.objects));
    });
  }

  test("what is stored has the v3 object's UID mirrored, and the metadata annotation in Go's order", async () => {
    await clean(cluster);
    const resources = openResources(datastore);
    const owner = {
      apiVersion: "projectcalico.org/v3",
      kind: "Tier",
      name: "t",
      uid: "11111111-2222-4333-8444-555555555555",
    };
    const metadata = { name: "s", labels: { b: "1", a: "<&>" }, annotations: { note: "x" }, ownerReferences: [owner] };
    await rejects(resources.create("GlobalNetworkSet", { metadata, spec: {} }), { code: "invalid" }); // no label value
    const fine = { ...metadata, labels: { b: "1", a: "2" } };
    const made = await resources.create("GlobalNetworkSet", { metadata: fine, spec: {} });
    const raw = (await cluster.must("GET", `${api}/globalnetworksets/s`)) as { metadata: RawMetadata };
    const time = made.metadata.creationTimestamp;
    const mirrored = "88888888-4444-43cc-8422-aaaaaaaaaaaa";
    const references = `[{"apiVersion":"crd.projectcalico.org/v1","kind":"Tier","name":"t","uid":"${mirrored}"}]`;
    equal(
      raw.metadata.annotations["projectcalico.org/metadata"],
      `{"creationTimestamp":"${time}","labels":{"a":"2","b":"1"},"annotations":{"note":"x"},"ownerReferences":${references}}`,
    );
    notEqual(made.metadata.uid, raw.metadata.uid);
    deepEqual(made.metadata.ownerReferences, [owner]);
    await rejects(resources.delete("GlobalNetworkSet", { namespace: "", name: "s" }, { uid: raw.metadata.uid }), {
      code: "not-found",
    });
    await resources.delete("GlobalNetworkSet", { namespace: "", name: "s" }, { uid: made.metadata.uid ?? "" });
  });

  test("in projectcalico.org/v3 the objects are stored as they are", async () => {
    await installCrds(
      cluster,
      customKinds.map((kind) => crdManifest(kind, "projectcalico.org")),
    );
    await using newer = await openAs(cluster.kubeconfig, { apiGroup: "projectcalico.org/v3" });
    const resources = openResources(newer);
    const affinity = { state: "confirmed", node: "n1", type: "host", cidr: "10.0.0.0/26", deleted: false };
    await resources.create("BlockAffinity", { metadata: { name: "n1-10-0-0-0-26" }, spec: affinity });
    deepEqual((await resources.get("BlockAffinity", { namespace: "", name: "n1-10-0-0-0-26" })).spec, affinity);
    const spec = { strictAffinity: true, autoAllocateBlocks: true };
    await resources.apply("IPAMConfiguration", { metadata: { name: "default" }, spec });
    const made = await resources.apply("IPPool", {
      metadata: { name: "p", labels: { a: "b" } },
      spec: { cidr: "10.0.0.0/16" },
    });
    const path = "/apis/projectcalico.org/v3";
    const raw = (await cluster.must("GET", `${path}/ippools/p`)) as { metadata: RawMetadata };
    deepEqual([raw.metadata.uid, raw.metadata.annotations], [made.metadata.uid, undefined]);
    equal((await cluster.ask("GET", `${path}/ipamconfigurations/default`)).status, 200);
  });

  test("a kind whose definition is missing is said to be missing, with what to do", async () => {
    await removeCrd(cluster, "caliconodestatuses.crd.projectcalico.org");
    // The server forgets the kind some moments after its definition.
    const isGone = async () => (await cluster.ask("GET", `${api}/caliconodestatuses`)).status === 404;
    await eventually(isGone, "the API server to forget the kind");
    const resources = openResources(datastore);
    const id = { namespace: "", name: "x" };
    const missing = { code: "no-such-kind", next: /cattail manifests/ };
    const status = { metadata: { name: "x" }, spec: { node: "n1", classes: ["BGP"], updatePeriodSeconds: 10 } };
    await rejects(resources.list("CalicoNodeStatus"), missing);
    await rejects(resources.create("CalicoNodeStatus", status), missing);
    await rejects(resources.get("CalicoNodeStatus", id), missing);
  });
});

type RawMetadata = { readonly uid: string; readonly annotations: { readonly [name: string]: string } };

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
