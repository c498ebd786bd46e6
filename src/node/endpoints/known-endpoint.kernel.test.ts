// Where endpoints are objects of their own: a pod or container has one, whatever its interfaces are called, and however many networks it is added to.
import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { freshNamespace, noNamespaces } from "../../../test/kit/namespace.ts";
import { systemClock } from "../../base/lib/index.ts";
import { openNetlink } from "../../base/linux/kernel.ts";
import { createMemoryDatastore } from "../../calico/datastore/index.ts";
import { openResources } from "../../calico/resources/index.ts";
import {
  createNetwork,
  type EndpointEdge,
  type EndpointRequest,
  hostSideName,
  mustBeReady,
  plugIn,
  readEndpointSettings,
  unplug,
} from "./index.ts";

const skip = noNamespaces;
const network = createNetwork();
const pod = { namespace: "default", name: "p1" };

async function stage() {
  const [node, inside] = [freshNamespace().path, freshNamespace().path];
  const cluster = createMemoryDatastore();
  const datastore = createMemoryDatastore({ flavour: "etcdv3" });
  await cluster.create("Namespace", { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } });
  const metadata = { ...pod, generateName: "p-" };
  await cluster.create("Pod", { apiVersion: "v1", kind: "Pod", metadata, spec: { nodeName: "n1" } });
  const resources = openResources(datastore);
  await resources.create("ClusterInformation", { metadata: { name: "default" }, spec: { datastoreReady: true } });
  const asked: string[] = [];
  let given = 4;
  const edge: EndpointEdge = {
    clock: systemClock,
    warn: () => undefined,
    nodeNamespace: node,
    datastore,
    resources,
    cluster: async () => cluster,
    ipam: {
      async add() {
        asked.push("ADD");
        given += 1;
        return { addresses: [{ family: 4, address: `10.65.0.${given}` }], routes: [] };
      },
      check: async () => void asked.push("CHECK"),
      del: async () => void asked.push("DEL"),
      release: async () => void asked.push("release"),
    },
    mustBeReady: () => mustBeReady(resources),
    network,
  };
  const request = (of: Partial<EndpointRequest> & { readonly name?: string; readonly more?: object } = {}) => {
    const { name = "net", more = {}, ...rest } = of;
    const configuration = { name, ipam: { type: "calico-ipam" }, ...more };
    const asPod = "pod" in rest ? rest.pod : pod;
    const containerId = rest.containerId ?? "c1";
    const settings = readEndpointSettings({ ...configuration, policy: { type: asPod === undefined ? "" : "k8s" } });
    const hostSide = hostSideName("cali", { pod: asPod, containerId });
    const names = { containerId, netns: inside, ifname: "eth0", pod: asPod, uid: undefined, node: "n1" };
    return { ...names, prefix: "cali", hostSide, mtu: 1450, settings, configuration, ...rest };
  };
  const endpoints = async () =>
    (await resources.list("WorkloadEndpoint")).items.map(({ metadata, spec }) =>
      [metadata.name, spec.ipNetworks, spec.profiles].flat().join(" "),
    );
  return { node, inside, edge, request, asked, endpoints, resources };
}

async function namesIn(namespace: string): Promise<string[]> {
  await using netlink = openNetlink({ namespace });
  return (await netlink.links()).filter((link) => !link.isLoopback).map(({ name }) => name);
}

test("a pod whose interface is called otherwise keeps its endpoint, and its last sandbox takes it along", {
  skip,
}, async () => {
  const { edge, request, endpoints, inside, resources } = await stage();
  const generated = async () =>
    (await resources.get("WorkloadEndpoint", { namespace: "default", name: "n1-k8s-p1-eth0" })).metadata.generateName;
  const first = await plugIn(request(), edge);
  equal(await generated(), "p-");
  const second = await plugIn(request({ ifname: "net1", containerId: "c2" }), edge);
  equal(await generated(), "p-");
  deepEqual([first.endpoint, second.endpoint, second.ifname], ["eth0", "eth0", "net1"]);
  deepEqual(await namesIn(inside), ["net1"]);
  deepEqual(await endpoints(), ["n1-k8s-p1-eth0 10.65.0.6/32 kns.default"]);
  await unplug(request({ netns: "" }), edge); // the older sandbox
  equal((await endpoints()).length, 1);
  await unplug(request({ ifname: "net1", containerId: "c2" }), edge);
  deepEqual([await endpoints(), await namesIn(inside)], [[], []]);
});

test("endpoints of pods whose names begin alike are left alone", { skip }, async () => {
  const { edge, request, endpoints, resources } = await stage();
  const metadata = { name: "n1-k8s-p1--a-eth0", namespace: "default" };
  const spec = {
    node: "n1",
    orchestrator: "k8s",
    pod: "p1-a",
    endpoint: "eth0",
    containerID: "c9",
    interfaceName: "x",
  };
  await resources.create("WorkloadEndpoint", { metadata, spec });
  const { endpoint } = await plugIn(request({ ifname: "eth7" }), edge);
  equal(endpoint, "eth7");
  await unplug(request({ ifname: "eth7" }), edge);
  deepEqual(
    (await endpoints()).map((each) => each.split(" ")[0]),
    ["n1-k8s-p1--a-eth0"],
  );
});

test("a container that is added to a second network has the interface and the address that it has", {
  skip,
}, async () => {
  const { node, inside, edge, request, endpoints, asked, resources } = await stage();
  const alone = { pod: undefined };
  const first = await plugIn(request(alone), edge);
  const again = await plugIn(request(alone), edge);
  const second = await plugIn(request({ ...alone, name: "other", ifname: "net1" }), edge);
  const { addresses, hostSide, mac } = first;
  for (const each of [again, second]) deepEqual([each.addresses, each.hostSide, each.mac], [addresses, hostSide, mac]);
  deepEqual(asked, ["ADD"]);
  deepEqual([await namesIn(node), await namesIn(inside)], [["calic1"], ["eth0"]]);
  deepEqual(await endpoints(), ["n1-cni-c1-eth0 10.65.0.5/32 net other"]);
  deepEqual((await resources.get("Profile", { namespace: "", name: "other" })).spec.labelsToApply, { other: "" });
  await unplug(request({ ...alone, name: "other", ifname: "net1" }), edge);
  deepEqual([await namesIn(node), (await endpoints()).length], [["calic1"], 1]);
  await unplug(request(alone), edge);
  deepEqual([await namesIn(node), await endpoints()], [[], []]);
});

test("a container whose interface is gone gets a new one, under the endpoint that is there", { skip }, async () => {
  const { inside, edge, request, endpoints, asked } = await stage();
  const alone = { pod: undefined };
  await plugIn(request(alone), edge);
  await network.unplugInPod(inside, "eth0");
  await plugIn(request({ ...alone, ifname: "net1" }), edge);
  deepEqual([asked, await namesIn(inside)], [["ADD", "ADD"], ["net1"]]);
  deepEqual(await endpoints(), ["n1-cni-c1-eth0 10.65.0.6/32 net"]);
});

test("a container's labels of Mesos are its endpoint's, and one is its namespace, for DEL as well", {
  skip,
}, async () => {
  const { edge, request, resources } = await stage();
  const labels = [
    { key: "DCOS_SPACE", value: "/a/b" },
    { key: "projectcalico.org/namespace", value: "team" },
  ];
  const more = { args: { "org.apache.mesos": { network_info: { labels: { labels } } } } };
  await plugIn(request({ pod: undefined, more }), edge);
  const id = { namespace: "team", name: "n1-cni-c1-eth0" };
  const { metadata } = await resources.get("WorkloadEndpoint", id);
  equal(metadata.labels?.DCOS_SPACE, "a.b");
  await unplug(request({ pod: undefined, more }), edge);
  await rejects(resources.get("WorkloadEndpoint", id), { code: "not-found" });
});

test("a container's address that cannot be given back is told when its interface is gone", { skip }, async () => {
  const { node, edge, request, endpoints } = await stage();
  const given = request({ pod: undefined });
  await plugIn(given, edge);
  const del = async () => {
    throw new Error("no plugin");
  };
  await rejects(unplug(given, { ...edge, ipam: { ...edge.ipam, del } }), /no plugin/);
  deepEqual([await namesIn(node), await endpoints()], [[], []]);
});

test("an interface that no endpoint can be called after is refused before anything is taken", { skip }, async () => {
  const { edge, request, asked } = await stage();
  await rejects(plugIn(request({ ifname: "-x" }), edge), {
    message:
      "error constructing WorkloadEndpoint name: error with field endpoint = '-x' (field must not begin with a '-')",
  });
  await rejects(plugIn(request({ pod: { namespace: "default", name: "p-" } }), edge), {
    message: "error constructing WorkloadEndpoint prefix: error with field pod = 'p-' (field must not end with a '-')",
  });
  deepEqual(asked, []);
});

test("addresses without IPAM are for pods alone", { skip }, async () => {
  const { edge, request, asked } = await stage();
  const more = { feature_control: { ip_addrs_no_ipam: true } };
  await rejects(plugIn(request({ pod: undefined, more }), edge), {
    message: "requested feature is not supported for this runtime: ip_addrs_no_ipam",
  });
  deepEqual(asked, []);
});
