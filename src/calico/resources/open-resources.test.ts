// What Resources promise in every datastore, on the two forms that memory can hold; the third, custom resources of
// crd.projectcalico.org, needs an API server (test/system/resources-kubernetes.test.ts).
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../base/lib/index.ts";
import { createMemoryDatastore, type MemoryDatastore } from "../datastore/index.ts";
import type { Flavour } from "../kinds/index.ts";
import type { ApiKind } from "./api-kinds.ts";
import { initialiseDatastore } from "./initialise.ts";
import { openResources } from "./open-resources.ts";
import type { Resources } from "./resources.ts";
import type { V3Object } from "./v3-object.ts";

const id = (name: string, namespace = "") => ({ namespace, name });
const set = (name: string, nets: string[] = ["10.0.0.0/8"]) => ({ metadata: { name }, spec: { nets } });
const kind: ApiKind = "GlobalNetworkSet";

/** Pools that go need not be waited for; writers that meet must wait, or none gets through. */
function open(flavour: Flavour): { datastore: MemoryDatastore; resources: Resources } {
  const datastore = createMemoryDatastore({ flavour });
  const sleep = (ms: number, signal?: AbortSignal) => systemClock.sleep(ms === 500 ? 0 : ms, signal);
  const clock = { ...systemClock, sleep };
  return { datastore, resources: openResources(datastore, { clock }) };
}

for (const flavour of ["kubernetes", "etcdv3"] as const) {
  const why = (text: string) => (flavour === "etcdv3" ? "<nil>" : text);
  const name = "globalnetworksets.projectcalico.org";

  test(`${flavour}: an object is created with a uid and the time, read, listed, replaced and deleted`, async () => {
    const { resources } = open(flavour);
    const made = await resources.create(kind, set("a"));
    ok(/^[0-9a-f-]{36}$/.test(made.metadata.uid ?? ""));
    ok(/^\d{4}-.*Z$/.test(made.metadata.creationTimestamp ?? ""));
    deepEqual(await resources.get(kind, id("a")), made);
    const replaced = await resources.replace(kind, { metadata: { name: "a", labels: { x: "y" } }, spec: { nets: [] } });
    deepEqual(replaced.spec, {});
    const { uid, creationTimestamp, labels } = replaced.metadata;
    const { uid: first, creationTimestamp: then } = made.metadata;
    deepEqual({ uid, creationTimestamp, labels }, { uid: first, creationTimestamp: then, labels: { x: "y" } });
    deepEqual((await resources.list(kind)).items, [replaced]);
    await resources.delete(kind, id("a"));
    deepEqual((await resources.list(kind)).items, []);
  });

  const wrong: [
    what: string,
    act: (resources: Resources, stored: V3Object) => Promise<unknown>,
    code: string,
    text: string | RegExp,
  ][] = [
    [
      "get of a missing one",
      (r) => r.get(kind, id("x")),
      "not-found",
      `resource does not exist: GlobalNetworkSet(x) with error: ${why(`${name} "x" not found`)}`,
    ],
    [
      "delete of a missing one",
      (r) => r.delete(kind, id("x")),
      "not-found",
      `resource does not exist: GlobalNetworkSet(x) with error: ${why(`${name} "x" not found`)}`,
    ],
    [
      "replace of a missing one",
      (r) => r.replace(kind, set("x")),
      "not-found",
      `resource does not exist: GlobalNetworkSet(x) with error: ${why(`${name} "x" not found`)}`,
    ],
    [
      "create of one that is there",
      (r) => r.create(kind, set("a")),
      "exists",
      `resource already exists: GlobalNetworkSet(a) with error: ${why(`${name} "a" already exists`)}`,
    ],
    [
      "create with a version",
      (r) => r.create(kind, { ...set("b"), metadata: { name: "b", resourceVersion: "1" } }),
      "invalid",
      "error with field Metadata.ResourceVersion = '1' (field must not be set for a Create request)",
    ],
    [
      "update without a version",
      (r) => r.update(kind, set("a")),
      "invalid",
      "error with field Metadata.ResourceVersion = '' (field must be set for an Update request)",
    ],
    [
      "update of another version",
      (r, stored) => r.update(kind, { ...stored, metadata: { ...stored.metadata, resourceVersion: "999" } }),
      "conflict",
      "update conflict: GlobalNetworkSet(a)",
    ],
    [
      "replace of another version",
      (r) => r.replace(kind, { ...set("a"), metadata: { name: "a", resourceVersion: "0" } }),
      "conflict",
      "update conflict: GlobalNetworkSet(a): resourceVersion 0 was given, 1 is stored",
    ],
    [
      "delete of another version",
      (r) => r.delete(kind, id("a"), { resourceVersion: "999" }),
      "conflict",
      "update conflict: GlobalNetworkSet(a)",
    ],
    ["delete without a name", (r) => r.delete(kind, id("")), "invalid", "resource name may not be empty"],
    [
      "a namespaced kind without one",
      (r) => r.create("NetworkSet", { metadata: { name: "a" }, spec: {} }),
      "invalid",
      "error with field Metadata.Namespace (namespace is not specified on namespaced resource)",
    ],
    [
      "a field of the wrong type",
      (r) => r.create(kind, { metadata: { name: "b" }, spec: { nets: 1 } }),
      "invalid",
      /^error with field spec.nets \(/,
    ],
  ];
  for (const [what, act, code, message] of wrong) {
    test(`${flavour}: ${what} is said in the original's words`, async () => {
      const { resources } = open(flavour);
      const stored = await resources.create(kind, set("a"));
      await rejects(act(resources, stored), { name: "ResourceError", code, message });
    });
  }

  test(`${flavour}: a delete that names a uid spares another object of the same name`, async () => {
    const { resources } = open(flavour);
    const { metadata } = await resources.create(kind, set("a"));
    const other = "11111111-2222-4333-8444-555555555555";
    await rejects(resources.delete(kind, id("a"), { uid: other }), { code: "not-found" });
    await resources.delete(kind, id("a"), { uid: metadata.uid ?? "" });
  });

  test(`${flavour}: of a hundred edits at once none is lost`, async () => {
    const { resources } = open(flavour);
    await resources.create(kind, set("a", []));
    const nets = Array.from({ length: 100 }, (_, at) => `10.${at}.0.0/16`);
    await Promise.all(
      nets.map((net) =>
        resources.edit(kind, id("a"), (current) => {
          if (current === undefined) return "nothing";
          const before = Array.isArray(current.spec.nets) ? current.spec.nets : [];
          return { ...current, spec: { nets: [...before, net] } };
        }),
      ),
    );
    const { spec } = await resources.get(kind, id("a"));
    deepEqual([...(spec.nets as string[])].sort(), [...nets].sort()); // a list of texts by its schema
  });

  test(`${flavour}: what cannot be read is listed beside the rest, and read as a problem`, async () => {
    const { datastore, resources } = open(flavour);
    await resources.create(kind, set("good"));
    await datastore.put(kind, { metadata: { name: "bad" }, spec: { nets: "no list" } });
    const { items, unreadable } = await resources.list(kind);
    deepEqual(
      items.map(({ metadata }) => metadata.name),
      ["good"],
    );
    deepEqual(
      unreadable.map(({ id: { name: bad } }) => bad),
      ["bad"],
    );
    ok(unreadable[0]?.problem.includes("spec.nets"));
    await rejects(resources.get(kind, id("bad")), { code: "unreadable" });
  });

  test(`${flavour}: a watch says what is set, what cannot be read and what is deleted`, async () => {
    const { datastore, resources } = open(flavour);
    const { revision } = await resources.list(kind);
    await resources.create(kind, set("a"));
    await datastore.put(kind, { metadata: { name: "bad" }, spec: { nets: 1 } });
    await resources.delete(kind, id("a"));
    const seen: string[] = [];
    for await (const events of resources.watch(kind, { from: revision, signal: AbortSignal.timeout(5000) })) {
      for (const event of events) {
        if (event.is === "set") seen.push(`set ${event.object.metadata.name}`);
        else if (event.is !== "bookmark") seen.push(`${event.is} ${event.id.name}`);
      }
      if (seen.length >= 3) break;
    }
    deepEqual(seen, ["set a", "unreadable bad", "delete a"]);
  });

  test(`${flavour}: IPAM's own objects are v3 objects like any other`, async () => {
    const { resources } = open(flavour);
    const sequenceNumber = 1_723_456_789_012_345_678n;
    const block = {
      cidr: "10.0.0.0/30",
      affinity: "host:n1",
      allocations: [0, null, null, null],
      unallocated: [1, 2, 3],
    };
    const attributes = [{ handle_id: "h" }];
    await resources.create("IPAMBlock", {
      metadata: { name: "10-0-0-0-30" },
      spec: { ...block, attributes, sequenceNumber },
    });
    const read = await resources.get("IPAMBlock", id("10-0-0-0-30"));
    equal(read.spec.sequenceNumber, sequenceNumber);
    const affinity = { state: "confirmed", node: "n1", type: "host", cidr: "10.0.0.0/30", deleted: false };
    await resources.create("BlockAffinity", { metadata: { name: "n1-10-0-0-0-30" }, spec: affinity });
    deepEqual((await resources.get("BlockAffinity", id("n1-10-0-0-0-30"))).spec, affinity);
    const handle = { handleID: "h", block: { "10.0.0.0/30": 1 }, deleted: false };
    await resources.create("IPAMHandle", { metadata: { name: "h" }, spec: handle });
    deepEqual(
      (await resources.list("IPAMHandle")).items.map(({ spec }) => spec),
      [handle],
    );
    await resources.delete("IPAMHandle", id("h"), {});
    await rejects(resources.get("IPAMHandle", id("h")), { code: "not-found" });
  });

  test(`${flavour}: a pool that goes gives empty blocks back, and takes the owner of the others`, async () => {
    const { resources } = open(flavour);
    await resources.create("IPPool", { metadata: { name: "p" }, spec: { cidr: "10.0.0.0/16" } });
    for (const [cidr, allocations, unallocated] of [
      ["10.0.0.0/26", [null, null], [0, 1]],
      ["10.0.0.64/26", [0, null], [1]],
    ] as const) {
      const blockName = cidr.replaceAll(/[./]/g, "-");
      const spec = {
        cidr,
        affinity: "host:n1",
        allocations,
        unallocated,
        attributes: [{ handle_id: "h" }],
        sequenceNumber: 7,
      };
      await resources.create("IPAMBlock", { metadata: { name: blockName }, spec });
      const affinity = { state: "confirmed", node: "n1", type: "host", cidr, deleted: false };
      await resources.create("BlockAffinity", { metadata: { name: `n1-${blockName}` }, spec: affinity });
    }
    await resources.delete("IPPool", id("p"));
    deepEqual((await resources.list("BlockAffinity")).items, []);
    const blocks = (await resources.list("IPAMBlock")).items.map(({ spec }) => [
      spec.cidr,
      spec.affinity,
      spec.sequenceNumber,
    ]);
    deepEqual(blocks, [["10.0.0.64/26", undefined, 8]]);
    await rejects(resources.get("IPPool", id("p")), { code: "not-found" });
  });

  test(`${flavour}: a policy needs its tier, and gets its label; a tier that is in use stays`, async () => {
    const { datastore, resources } = open(flavour);
    const policy = { metadata: { name: "t.p" }, spec: { tier: "t", selector: "all()" } };
    await rejects(resources.create("GlobalNetworkPolicy", policy), { code: "not-found", message: /Tier\(t\)/ });
    const signal = new AbortController().signal;
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    await initialiseDatastore(datastore, { clock: systemClock, log, signal, newClusterGuid: () => "0".repeat(32) });
    await resources.create("Tier", { metadata: { name: "t" }, spec: { order: 5 } });
    const made = await resources.create("GlobalNetworkPolicy", policy);
    equal(made.metadata.labels?.["projectcalico.org/tier"], "t");
    deepEqual(made.spec.types, ["Ingress"]);
    await rejects(resources.delete("Tier", id("t")), {
      message: "operation delete is not supported on t: Cannot delete a non-empty tier",
    });
    const tiers = (await resources.list("Tier")).items.map(({ metadata }) => metadata.name);
    deepEqual(tiers, ["t", "kube-admin", "default", "kube-baseline"]);
  });
}

test("etcd: a node that goes takes along what is about it alone", async () => {
  const { resources } = open("etcdv3");
  await resources.create("Node", { metadata: { name: "n1" }, spec: { bgp: { ipv4Address: "10.0.0.1/24" } } });
  const endpoint = {
    node: "n1",
    orchestrator: "k8s",
    pod: "db",
    endpoint: "eth0",
    interfaceName: "cali1",
    ipNetworks: ["10.0.0.9/32"],
  };
  await resources.create("WorkloadEndpoint", { metadata: { name: "", namespace: "default" }, spec: endpoint });
  for (const node of ["n1", "n2"]) {
    await resources.create("HostEndpoint", { metadata: { name: node }, spec: { node, interfaceName: "eth0" } });
    await resources.create("FelixConfiguration", { metadata: { name: `node.${node}` }, spec: {} });
  }
  await resources.delete("Node", id("n1"));
  deepEqual((await resources.list("WorkloadEndpoint")).items, []);
  for (const each of ["HostEndpoint", "FelixConfiguration"] as const) {
    deepEqual(
      (await resources.list(each)).items.map(({ metadata }) => metadata.name?.replace("node.", "")),
      ["n2"],
    );
  }
});

test("Kubernetes: nodes, pods, namespaces and accounts are shown as Calico's objects, and watched as such", async () => {
  const { datastore, resources } = open("kubernetes");
  const uid = "30316465-6365-4463-ad63-3564622d3638";
  await datastore.put("Node", { metadata: { name: "n1", uid, labels: { zone: "a" } } });
  const spec = { nodeName: "n1", containers: [] };
  await datastore.put("Pod", {
    metadata: { name: "web-1", namespace: "shop", uid },
    spec,
    status: { podIP: "10.0.0.5" },
  });
  await datastore.put("Pod", {
    metadata: { name: "host", namespace: "shop", uid },
    spec: { ...spec, hostNetwork: true },
  });
  await datastore.put("Namespace", { metadata: { name: "shop", uid, labels: { team: "red" } } });
  await datastore.put("ServiceAccount", { metadata: { name: "robot", namespace: "shop", uid } });

  const changed = await resources.replace("Node", {
    metadata: { name: "n1", labels: { rack: "r" } },
    spec: { bgp: { asNumber: 64600 } },
  });
  deepEqual(changed.metadata.labels, { rack: "r", zone: "a" });
  deepEqual(changed.spec.bgp, { asNumber: 64600 });
  await rejects(resources.create("Node", { metadata: { name: "n9" } }), {
    message: "operation Create is not supported on Node(n9)",
  });

  const { items, revision } = await resources.list("WorkloadEndpoint");
  deepEqual(
    items.map(({ metadata, spec: { ipNetworks } }) => [metadata.name, ipNetworks]),
    [["n1-k8s-web--1-eth0", ["10.0.0.5/32"]]],
  );
  await datastore.delete("Pod", { namespace: "shop", name: "web-1" });
  for await (const [event] of resources.watch("WorkloadEndpoint", {
    from: revision,
    signal: AbortSignal.timeout(5000),
  })) {
    deepEqual(event, { is: "delete", id: { namespace: "shop", name: "n1-k8s-web--1-eth0" } });
    break;
  }

  const profiles = await resources.list("Profile");
  deepEqual(
    profiles.items.map(({ metadata }) => metadata.name),
    ["projectcalico-default-allow", "kns.shop", "ksa.shop.robot"],
  );
  await datastore.put("Namespace", { metadata: { name: "shop", uid, labels: { team: "blue" } } });
  for await (const [event] of resources.watch("Profile", {
    from: profiles.revision,
    signal: AbortSignal.timeout(5000),
  })) {
    const labels = event?.is === "set" ? event.object.spec.labelsToApply : undefined;
    deepEqual(labels, { "pcns.projectcalico.org/name": "shop", "pcns.team": "blue" });
    break;
  }
});

const misnamed: { kind: "Profile" | "WorkloadEndpoint"; name: string; get: string; del?: string }[] = [
  { kind: "Profile", name: "plain", get: "Invalid name plain" },
  { kind: "Profile", name: "ksa.prod", get: "Profile ksa.prod is not formatted correctly" },
  { kind: "Profile", name: "kns.", get: "resource name may not be empty" },
  {
    kind: "WorkloadEndpoint",
    name: "a-b",
    get: "resource does not exist: WorkloadEndpoint(prod/a-b) with error: malformed WorkloadEndpoint name - unable to determine Pod name",
    del: "insufficient identifiers, missing 'a-b'",
  },
  {
    kind: "WorkloadEndpoint",
    name: "a-k8s-c-d-e",
    get: "Error parsing a-k8s-c-d-e, verify that WorkloadEndpoint name is correct",
    del: "Error parsing a-k8s-c-d-e, verify that WorkloadEndpoint name is correct",
  },
];
for (const { kind, name, get, del } of misnamed) {
  test(`a view of Kubernetes' objects cannot have the name ${name}: ${kind}`, async () => {
    const resources = openResources(createMemoryDatastore());
    const id = { namespace: kind === "WorkloadEndpoint" ? "prod" : "", name };
    await rejects(resources.get(kind, id), { message: get });
    if (del !== undefined) await rejects(resources.delete(kind, id), { message: del });
  });
}
