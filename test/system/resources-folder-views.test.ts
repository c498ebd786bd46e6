// A folder with Kubernetes' objects and Calico's own of the same names: which of the two is seen, by resources and by a Typha's clients.
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { type Datastore, openDirectoryDatastore } from "../../src/calico/datastore/index.ts";
import { openResources, type ResourceEvent, type Resources } from "../../src/calico/resources/index.ts";
import { runSyncers } from "../../src/calico/syncer/index.ts";

const signal = AbortSignal.timeout(60_000);

const pod = (name: string, ip: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "shop", labels: { app: name } },
  spec: { nodeName: "n1" },
  status: { phase: "Running", podIP: ip, podIPs: [{ ip }] },
});
const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", labels: { team: "net" } } };
const endpoint = (podName: string, ip: string) => ({
  metadata: { name: `n1-k8s-${podName}-eth0`, namespace: "shop" },
  spec: {
    orchestrator: "k8s",
    node: "n1",
    pod: podName,
    endpoint: "eth0",
    interfaceName: "cali1",
    ipNetworks: [`${ip}/32`],
  },
});
const idOf = (podName: string) => ({ namespace: "shop", name: `n1-k8s-${podName}-eth0` });

type Opened = { datastore: Datastore; resources: Resources; path: string };

async function open(t: TestContext, ...objects: object[]): Promise<Opened> {
  const path = mkdtempSync(join(tmpdir(), "cattail-views-"));
  writeFileSync(join(path, "all.json"), JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  const datastore = await openDirectoryDatastore({ path, durable: false });
  t.after(async () => {
    await datastore[Symbol.asyncDispose]();
    rmSync(path, { recursive: true, force: true });
  });
  return { datastore, resources: openResources(datastore), path };
}

async function networks(resources: Resources): Promise<unknown> {
  const { items } = await resources.list("WorkloadEndpoint");
  return Object.fromEntries(items.map(({ metadata, spec }) => [metadata.name, spec.ipNetworks]));
}

test("a stored endpoint wins over the pod of its name, and the pod is seen again when it goes", async (t) => {
  const { resources } = await open(t, namespace, pod("web", "10.0.0.1"), pod("db", "10.0.0.2"));
  deepEqual(await networks(resources), { "n1-k8s-db-eth0": ["10.0.0.2/32"], "n1-k8s-web-eth0": ["10.0.0.1/32"] });
  await resources.apply("WorkloadEndpoint", endpoint("web", "10.9.9.9"));
  await resources.create("WorkloadEndpoint", endpoint("more", "10.9.9.8"));
  deepEqual(await networks(resources), {
    "n1-k8s-db-eth0": ["10.0.0.2/32"],
    "n1-k8s-more-eth0": ["10.9.9.8/32"],
    "n1-k8s-web-eth0": ["10.9.9.9/32"],
  });
  deepEqual((await resources.get("WorkloadEndpoint", idOf("web"))).spec.ipNetworks, ["10.9.9.9/32"]);
  await resources.replace("WorkloadEndpoint", endpoint("web", "10.9.9.7"));
  deepEqual((await resources.get("WorkloadEndpoint", idOf("web"))).spec.ipNetworks, ["10.9.9.7/32"]);
  await resources.delete("WorkloadEndpoint", idOf("web"));
  deepEqual((await resources.get("WorkloadEndpoint", idOf("web"))).spec.ipNetworks, ["10.0.0.1/32"]);
});

test("a view cannot be replaced: the sentence says what to change", async (t) => {
  const { resources } = await open(t, namespace, pod("web", "10.0.0.1"));
  await rejects(resources.replace("WorkloadEndpoint", endpoint("web", "10.9.9.9")), {
    code: "unsupported",
    next: /change the pod/,
  });
  const profile = { metadata: { name: "kns.shop" }, spec: {} };
  await rejects(resources.replace("Profile", profile), { code: "unsupported", next: /change the labels/ });
  await rejects(resources.delete("Profile", { namespace: "", name: "kns.shop" }), { code: "unsupported" });
  await rejects(resources.replace("Profile", { metadata: { name: "none" }, spec: {} }), { code: "not-found" });
});

test("profiles: a stored one beside and over those of namespaces; the default one is always what it is", async (t) => {
  const { resources } = await open(t, namespace, {
    apiVersion: "projectcalico.org/v3",
    kind: "Profile",
    metadata: { name: "projectcalico-default-allow" },
    spec: { ingress: [{ action: "Deny" }] },
  });
  await resources.create("Profile", { metadata: { name: "own" }, spec: { labelsToApply: { a: "b" } } });
  await resources.apply("Profile", { metadata: { name: "kns.shop" }, spec: { labelsToApply: { c: "d" } } });
  const { items } = await resources.list("Profile");
  deepEqual(
    items.map(({ metadata }) => metadata.name),
    ["kns.shop", "own", "projectcalico-default-allow"],
  );
  deepEqual(items[0]?.spec.labelsToApply, { c: "d" });
  deepEqual(items[2]?.spec.ingress, [{ action: "Allow" }]);
});

test("a watch says what is seen: the stored one while it is there, the view before and after", async (t) => {
  const { resources, datastore } = await open(t, namespace, pod("web", "10.0.0.1"));
  const { revision } = await resources.list("WorkloadEndpoint");
  const seen: string[] = [];
  const text = (event: ResourceEvent) =>
    event.is === "set" ? `set ${String(event.object.spec.ipNetworks)}` : event.is === "delete" ? "delete" : event.is;
  const stopping = new AbortController();
  const until = async (count: number) => {
    while (seen.length < count) await systemClock.sleep(5, signal);
  };
  const watching = (async () => {
    const options = { from: revision, signal: AbortSignal.any([stopping.signal, signal]) };
    for await (const events of resources.watch("WorkloadEndpoint", options)) seen.push(...events.map(text));
  })().catch(() => undefined);
  await resources.create("WorkloadEndpoint", endpoint("web", "10.9.9.9"));
  await until(1);
  const stored = await datastore.get("Pod", { namespace: "shop", name: "web" });
  if (stored === undefined) throw new Error("no pod");
  await datastore.update("Pod", { ...stored, value: pod("web", "10.0.0.3") });
  await resources.delete("WorkloadEndpoint", idOf("web"));
  await until(2);
  await datastore.delete("Pod", { namespace: "shop", name: "web" });
  await until(3);
  stopping.abort();
  await watching;
  deepEqual(seen, ["set 10.9.9.9/32", "set 10.0.0.3/32", "delete"]);
});

test("nodes are created, changed and deleted in a folder, and Kubernetes' nodes are changed in their own form", async (t) => {
  const kubernetes = { apiVersion: "v1", kind: "Node", metadata: { name: "k1" }, spec: {}, status: {} };
  const { resources, path } = await open(t, kubernetes);
  await resources.create("Node", { metadata: { name: "c1" }, spec: { bgp: { ipv4Address: "192.0.2.1/24" } } });
  match(readFileSync(join(path, "nodes/c1.yaml"), "utf8"), /apiVersion: projectcalico.org\/v3\n(.*\n)*.*bgp:/);
  await rejects(resources.create("Node", { metadata: { name: "k1" }, spec: {} }), { code: "exists" });
  for (const name of ["c1", "k1"]) {
    const changed = await resources.edit("Node", { namespace: "", name }, (node) =>
      node === undefined ? "nothing" : { ...node, spec: { ...node.spec, bgp: { ipv4Address: "192.0.2.9/24" } } },
    );
    deepEqual(changed?.spec.bgp, { ipv4Address: "192.0.2.9/24" });
  }
  match(readFileSync(join(path, "all.json"), "utf8"), /projectcalico.org\/IPv4Address/);
  await resources.delete("Node", { namespace: "", name: "c1" });
  deepEqual(
    (await resources.list("Node")).items.map(({ metadata }) => metadata.name),
    ["k1"],
  );
});

test("IPAMConfiguration and IPAMConfig are one object, by whichever name it is written", async (t) => {
  const { resources, path } = await open(t);
  const id = { namespace: "", name: "default" };
  await resources.apply("IPAMConfiguration", {
    metadata: { name: "default" },
    spec: { strictAffinity: true, autoAllocateBlocks: true },
  });
  equal((await resources.get("IPAMConfig", id)).spec.strictAffinity, true);
  await resources.edit("IPAMConfig", id, (config) =>
    config === undefined ? "nothing" : { ...config, spec: { ...config.spec, strictAffinity: false } },
  );
  equal((await resources.get("IPAMConfiguration", id)).spec.strictAffinity, false);
  match(readFileSync(join(path, "ipamconfigs/default.yaml"), "utf8"), /kind: IPAMConfiguration/);
  await resources.delete("IPAMConfiguration", id);
  await resources.create("IPAMConfig", { metadata: { name: "default" }, spec: { strictAffinity: true } });
  equal((await resources.get("IPAMConfiguration", id)).spec.strictAffinity, true);
});

test("a Typha on a folder sends both, and of one name the stored one", async (t) => {
  const { resources, datastore } = await open(t, namespace, pod("web", "10.0.0.1"), pod("db", "10.0.0.2"));
  await resources.create("WorkloadEndpoint", endpoint("web", "10.9.9.9"));
  await resources.create("WorkloadEndpoint", endpoint("more", "10.9.9.8"));
  await resources.create("Profile", { metadata: { name: "own" }, spec: { labelsToApply: { a: "b" } } });
  await resources.create("Node", { metadata: { name: "n1" }, spec: { bgp: { ipv4Address: "192.0.2.1/24" } } });
  const stopping = new AbortController();
  const kvs = new Map<string, string>();
  const types: string[] = [];
  const web = "/calico/v1/host/n1/workload/k8s/shop%2fweb/endpoint/eth0";
  const syncers = runSyncers({
    datastore,
    clock: systemClock,
    log: silentLog,
    random: Math.random,
    signal: AbortSignal.any([stopping.signal, signal]),
  });
  const reading = (async () => {
    for await (const { syncer, updates } of syncers) {
      if (syncer !== "felix") continue;
      for (const { path, value, type } of updates) {
        if (path === web) types.push(`${type} ${value === undefined ? "" : JSON.parse(value).ipv4_nets}`);
        if (value === undefined) kvs.delete(path);
        else kvs.set(path, value);
      }
    }
  })();
  const eventually = async (is: () => boolean) => {
    while (!is()) await systemClock.sleep(5, signal);
  };
  await eventually(() => [...kvs.keys()].filter((path) => path.includes("/workload/")).length === 3);
  const nets = (path: string) => JSON.parse(kvs.get(path) ?? "{}").ipv4_nets;
  await eventually(() => String(nets(web)) === "10.9.9.9/32");
  await eventually(() => [...kvs.keys()].some((path) => path === "/calico/v1/policy/profile/own/rules"));
  await eventually(() => [...kvs.keys()].some((path) => path === "/calico/v1/policy/profile/kns.shop/rules"));
  await eventually(() => kvs.has("/calico/resources/v3/projectcalico.org/nodes/n1"));
  await resources.delete("WorkloadEndpoint", idOf("web"));
  await eventually(() => String(nets(web)) === "10.0.0.1/32");
  await datastore.delete("Pod", { namespace: "shop", name: "web" });
  await eventually(() => !kvs.has(web));
  stopping.abort();
  await reading.catch(() => undefined);
  const last = types.slice(-3);
  deepEqual(
    last.map((said) => said.split(" ")[1]),
    ["10.9.9.9/32", "10.0.0.1/32", ""],
  );
});
