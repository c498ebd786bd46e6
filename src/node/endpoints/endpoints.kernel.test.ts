// ADD, CHECK and DEL on real namespaces, with pods in memory and an IPAM that always has the same addresses: what the kernel has then, and that
// nothing stays where a step fails. The recorded network state of the original is compared in more detail with the golden cases.
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { freshNamespace, noNamespaces } from "../../../test/kit/namespace.ts";
import { systemClock } from "../../base/lib/index.ts";
import { inNamespace, openNetlink, readSysctl, writeSysctl } from "../../base/linux/kernel.ts";
import { createMemoryDatastore } from "../../calico/datastore/index.ts";
import { openResources } from "../../calico/resources/index.ts";
import {
  check,
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
const addresses = [
  { family: 4, address: "10.65.0.5" },
  { family: 6, address: "fd00:65::5" },
] as const;
const gateway6 = "fe80::ecee:eeff:feee:eeee";

async function stage(
  change: {
    annotations?: { [name: string]: string };
    plug?: EndpointEdge["network"]["plug"];
    configuration?: { [name: string]: unknown };
  } = {},
) {
  const [node, inside] = [freshNamespace().path, freshNamespace().path];
  const datastore = createMemoryDatastore();
  await datastore.create("Namespace", { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } });
  const metadata = { ...pod, annotations: change.annotations ?? {} };
  await datastore.create("Pod", { apiVersion: "v1", kind: "Pod", metadata, spec: { nodeName: "n1" } });
  const resources = openResources(datastore);
  await resources.create("ClusterInformation", { metadata: { name: "default" }, spec: { datastoreReady: true } });
  const asked: string[] = [];
  const warnings: string[] = [];
  const edge: EndpointEdge = {
    clock: systemClock,
    warn: (text) => void warnings.push(text),
    nodeNamespace: node,
    datastore,
    resources,
    cluster: async () => datastore,
    ipam: {
      async add() {
        asked.push("ADD");
        return { addresses, routes: [] };
      },
      check: async () => void asked.push("CHECK"),
      del: async () => void asked.push("DEL"),
      release: async () => void asked.push("release"),
    },
    mustBeReady: () => mustBeReady(resources),
    network: { ...network, plug: change.plug ?? network.plug },
  };
  const configuration = {
    name: "net",
    policy: { type: "k8s" },
    ipam: { type: "calico-ipam" },
    ...change.configuration,
  };
  const settings = readEndpointSettings(configuration);
  const hostSide = hostSideName("cali", { pod, containerId: "c1" });
  const request: EndpointRequest = {
    containerId: "c1",
    netns: inside,
    ifname: "eth0",
    pod,
    uid: undefined,
    node: "n1",
    prefix: "cali",
    hostSide,
    mtu: 1450,
    settings,
    configuration,
  };
  const annotations = async () => {
    const value = (await datastore.get("Pod", pod))?.value as { metadata: { annotations?: object } } | undefined; // as made above
    return value?.metadata.annotations ?? {};
  };
  return { node, inside, edge, request, asked, warnings, annotations };
}

async function linksIn(namespace: string): Promise<string[]> {
  await using netlink = openNetlink({ namespace });
  return (await netlink.links())
    .filter((link) => !link.isLoopback)
    .map(({ name, kind, mtu, isUp }) => `${name} ${kind} ${mtu} ${isUp}`);
}

async function routesIn(namespace: string): Promise<string[]> {
  await using netlink = openNetlink({ namespace });
  const routes = (await netlink.routes({ table: 254 })).filter(({ destination }) => destination !== "fe80::/64");
  return routes.map(({ destination, gateway = "-", protocol }) => `${destination} ${gateway} ${protocol}`).sort();
}

test("an ADD ends when the pod's IPv6 address can be used, also where the kernel looks for others who have it", {
  skip,
}, async () => {
  const { inside, edge, request, warnings } = await stage();
  inNamespace(inside, () => writeSysctl("net.ipv6.conf.all.accept_dad", 1));
  await plugIn(request, edge);
  await using netlink = openNetlink({ namespace: inside });
  const found = (await netlink.addresses()).filter(({ address }) => address === "fd00:65::5/128");
  deepEqual(
    found.map(({ flags }) => flags.includes("tentative")),
    [false],
  );
  deepEqual(warnings, []);
});

test("a pod is plugged in, checked and unplugged, in both families", { skip }, async () => {
  const { node, inside, edge, request, asked, annotations } = await stage();
  const { hostSide, addresses: got, mac } = await plugIn(request, edge);
  equal(hostSide, "cali182c452fe96");
  deepEqual(got, addresses);
  match(mac, /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/);
  deepEqual(await linksIn(node), ["cali182c452fe96 veth 1450 true"]);
  deepEqual(await linksIn(inside), ["eth0 veth 1450 true"]);
  deepEqual(await routesIn(node), ["10.65.0.5/32 - boot", "fd00:65::5/128 - boot"]);
  deepEqual(await routesIn(inside), [
    "0.0.0.0/0 169.254.1.1 boot",
    "169.254.1.1/32 - boot",
    `::/0 ${gateway6} boot`,
    "fd00:65::5/128 - kernel",
  ]);
  equal(readSysctl(["net", "ipv4", "conf", hostSide, "proxy_arp"], { namespace: node }), "1");
  equal(readSysctl(["net", "ipv6", "conf", hostSide, "proxy_ndp"], { namespace: node }), "1");
  deepEqual(await annotations(), {
    "cni.projectcalico.org/containerID": "c1",
    "cni.projectcalico.org/podIP": "10.65.0.5/32",
    "cni.projectcalico.org/podIPs": "10.65.0.5/32,fd00:65::5/128",
  });
  const prevResult = {
    ips: addresses.map(({ address }) => ({ address: `${address}/${address.includes(":") ? 128 : 32}` })),
  };
  const checked = { ...request, configuration: { ...request.configuration, prevResult } };
  await check(checked, edge);
  await unplug(request, edge);
  await rejects(check(checked, edge), /the node has no interface cali182c452fe96; the pod has no interface eth0/);
  await unplug(request, edge); // again, with nothing left
  deepEqual([await linksIn(node), await linksIn(inside), await routesIn(node)], [[], [], []]);
  deepEqual(asked, ["ADD", "CHECK", "DEL", "DEL"]);
});

test("a pair of netkit where the kernel has it, a veth pair and a word where it does not", { skip }, async () => {
  const configuration = { device_type: "netkit", num_queues: 2 };
  const { node, inside, edge, request, warnings } = await stage({ configuration });
  await plugIn(request, edge);
  const isKnown = warnings.length === 0;
  deepEqual(warnings, isKnown ? [] : ["netkit is not supported by this kernel: the pod gets a veth pair"]);
  const kind = isKnown ? "netkit" : "veth";
  deepEqual(await linksIn(node), [`cali182c452fe96 ${kind} 1450 true`]);
  deepEqual(await linksIn(inside), [`eth0 ${kind} 1450 true`]);
  deepEqual(await routesIn(node), ["10.65.0.5/32 - boot", "fd00:65::5/128 - boot"]);
  await unplug(request, edge);
  deepEqual([await linksIn(node), await linksIn(inside)], [[], []]);
});

test("without the pod's namespace the interface goes by its name, unless a newer sandbox has it", {
  skip,
}, async () => {
  const { node, edge, request } = await stage();
  await plugIn(request, edge);
  await unplug({ ...request, containerId: "c0", netns: "" }, edge);
  equal((await linksIn(node)).length, 1);
  await unplug({ ...request, netns: "" }, edge);
  deepEqual(await linksIn(node), []);
});

test("an ADD that is repeated makes the interface anew", { skip }, async () => {
  const { node, inside, edge, request } = await stage();
  await plugIn(request, edge);
  await plugIn(request, edge);
  deepEqual([(await linksIn(node)).length, (await linksIn(inside)).length], [1, 1]);
});

test("a namespace that is not there: the address is given back", { skip }, async () => {
  const { node, edge, request, asked } = await stage();
  const netns = "/run/netns/cattail-test-no-such";
  await rejects(plugIn({ ...request, netns }, edge), {
    message: `failed to Statfs "${netns}": no such file or directory`,
  });
  deepEqual(asked, ["ADD", "DEL"]);
  deepEqual(await linksIn(node), []);
});

test("a pod that goes while it is plugged in: neither interface nor address stays", { skip }, async () => {
  const set: Awaited<ReturnType<typeof stage>> = await stage({
    async plug(link, edge) {
      const mac = await network.plug(link, edge);
      await set.edge.datastore.delete("Pod", pod);
      return mac;
    },
  });
  await rejects(plugIn(set.request, set.edge), /pods "p1" not found/);
  deepEqual(set.asked, ["ADD", "DEL"]);
  deepEqual([await linksIn(set.node), await linksIn(set.inside)], [[], []]);
});

const thefts: { what: string; words: string[]; says: RegExp }[] = [
  {
    what: "the interface",
    words: ["link", "del", "cali182c452fe96"],
    says: /the node has no interface cali182c452fe96/,
  },
  {
    what: "the way to it",
    words: ["link", "set", "cali182c452fe96", "down"],
    says: /cali182c452fe96 of the node is down/,
  },
  { what: "a route", words: ["route", "del", "10.65.0.5"], says: /the node has no route to 10\.65\.0\.5 by/ },
  {
    what: "a route of IPv6",
    words: ["-6", "route", "del", "fd00:65::5"],
    says: /the node has no route to fd00:65::5 by/,
  },
  { what: "its name", words: ["link", "set", "cali182c452fe96", "alias", "x.y"], says: /belongs to x\.y/ },
];
for (const { what, words, says } of thefts) {
  test(`${what} is taken away while a pod is plugged in: ADD does not say that it is done`, { skip }, async () => {
    const set: Awaited<ReturnType<typeof stage>> = await stage({
      async plug(link, edge) {
        const mac = await network.plug(link, edge);
        inNamespace(set.node, () => execFileSync("ip", words));
        return mac;
      },
    });
    await rejects(plugIn(set.request, set.edge), says);
    deepEqual(set.asked, ["ADD", "DEL"]);
  });
}

test("a pod whose annotations nobody can read any more goes nevertheless", { skip }, async () => {
  const { node, edge, request, annotations } = await stage();
  await plugIn(request, edge);
  const broken = { "cni.projectcalico.org/allowedSourcePrefixes": "x", "cni.projectcalico.org/floatingIPs": "" };
  await edge.datastore.patch("Pod", pod, { metadata: { annotations: broken } });
  await unplug(request, edge);
  deepEqual(await linksIn(node), []);
  equal(((await annotations()) as { [name: string]: string })["cni.projectcalico.org/podIP"], "");
});

test("what a pod may not ask for is refused before anything is taken", { skip }, async () => {
  const annotations = { "cni.projectcalico.org/floatingIPs": '["192.0.2.7"]' };
  const { edge, request, asked } = await stage({ annotations });
  await rejects(plugIn(request, edge), { message: "requested feature is not enabled: floating_ips" });
  deepEqual(asked, []);
});
