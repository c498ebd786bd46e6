// Tunnel addresses: what becomes of each, and what is stored in the end, on a datastore in memory.
import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { parseRange, silentLog, systemClock } from "../../../base/lib/index.ts";
import { createMemoryDatastore, type Datastore } from "../../../calico/datastore/index.ts";
import { openIpam, openIpamAccess } from "../../../calico/ipam-client/index.ts";
import { recordOf, stringMapAt } from "../../../calico/model/index.ts";
import { openResources } from "../../../calico/resources/index.ts";
import { allocateTunnelAddresses } from "./allocate.ts";
import { decideTunnel, type Held } from "./decide.ts";
import { tunnelKinds } from "./kinds.ts";

const vxlan = tunnelKinds.find(({ type }) => type === "vxlanTunnelAddress");
const ranges = [parseRange("10.50.0.0/26")].flatMap((range) => range ?? []);
const ours: Held = { is: "assigned", handle: "h", attributes: { node: "n1", type: "vxlanTunnelAddress" } };
const decisions: { name: string; address: string; held: Held; is: string }[] = [
  { name: "none yet", address: "", held: { is: "not assigned" }, is: "assign, releasing" },
  { name: "ours, in a pool", address: "10.50.0.3", held: ours, is: "keep" },
  { name: "ours, in no pool", address: "10.51.0.3", held: ours, is: "assign, releasing" },
  { name: "nobody's", address: "10.50.0.3", held: { is: "not assigned" }, is: "assign, releasing" },
  { name: "ancient", address: "10.50.0.3", held: { is: "assigned", handle: undefined, attributes: {} }, is: "adopt" },
  {
    name: "a pod's, without attributes",
    address: "10.50.0.3",
    held: { is: "assigned", handle: "p", attributes: {} },
    is: "assign",
  },
  {
    name: "another node's",
    address: "10.50.0.3",
    held: { is: "assigned", handle: "h", attributes: { node: "n2", type: "vxlanTunnelAddress" } },
    is: "assign",
  },
];
for (const { name, address, held, is } of decisions) {
  test(`tunnel: ${name}`, () => {
    if (vxlan === undefined) throw new Error("no such kind");
    const step = decideTunnel(vxlan, { node: "n1", address, held, ranges });
    equal(step.do === "assign" && step.releasesFirst ? "assign, releasing" : step.do, is);
  });
}

const pool = (name: string, cidr: string, spec: object = {}) => ({ metadata: { name }, spec: { cidr, ...spec } });

async function world(pools: readonly ReturnType<typeof pool>[], annotations: { [name: string]: string } = {}) {
  const datastore = createMemoryDatastore({ clock: systemClock });
  const resources = openResources(datastore);
  await datastore.create("Node", {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n1", annotations, labels: { rack: "a" } },
  });
  for (const each of pools) await resources.create("IPPool", each);
  const edge = { clock: systemClock, random: Math.random };
  const ipam = openIpam(openIpamAccess(datastore, edge), edge);
  const allocate = (on: Datastore = datastore) =>
    allocateTunnelAddresses({
      node: "n1",
      datastore: on,
      wireguardHostEncryption: false,
      clock: systemClock,
      log: silentLog,
      signal: new AbortController().signal,
    });
  const annotationsNow = async () => {
    const stored = await datastore.get("Node", { namespace: "", name: "n1" });
    const { metadata } = recordOf(stored?.value, "");
    return stringMapAt(recordOf(metadata, "metadata"), "annotations", "metadata") ?? {};
  };
  return { datastore, resources, ipam, allocate, annotationsNow };
}

test("every kind of tunnel gets an address of its own, under its handle and with its attributes", async () => {
  const keys = { "projectcalico.org/WireguardPublicKey": "jlkVyQYooZYzI2wFfNhSZez5eWh44yfq1wKVjLvSXgY=" };
  const { allocate, annotationsNow, ipam } = await world(
    [
      pool("v", "10.50.0.0/24", { vxlanMode: "Always" }),
      pool("i", "10.51.0.0/24", { ipipMode: "CrossSubnet" }),
      pool("six", "fd00:50::/64", { vxlanMode: "CrossSubnet" }),
    ],
    keys,
  );
  await allocate();
  const now = await annotationsNow();
  const held = async (handle: string) =>
    (await ipam.ipsByHandle(`${handle}-n1`))?.map(({ attribute }) => attribute.secondary);
  deepEqual(await held("vxlan-tunnel-addr"), [{ node: "n1", type: "vxlanTunnelAddress" }]);
  deepEqual(await held("vxlan-v6-tunnel-addr"), [{ node: "n1", type: "vxlanV6TunnelAddress" }]);
  deepEqual(await held("ipip-tunnel-addr"), [{ node: "n1", type: "ipipTunnelAddress" }]);
  deepEqual(await held("wireguard-tunnel-addr"), [{ node: "n1", type: "wireguardTunnelAddress" }]);
  deepEqual(
    Object.keys(now)
      .map((name) => name.split("/")[1])
      .sort(),
    [
      "IPv4IPIPTunnelAddr",
      "IPv4VXLANTunnelAddr",
      "IPv4WireguardInterfaceAddr",
      "IPv6VXLANTunnelAddr",
      "WireguardPublicKey",
    ],
  );
  await allocate();
  deepEqual(await annotationsNow(), now);
});

test("an address without attributes and handle is adopted, one that is somebody's is left alone", async () => {
  const { allocate, annotationsNow, ipam } = await world([pool("v", "10.50.0.0/24", { vxlanMode: "Always" })], {
    "projectcalico.org/IPv4VXLANTunnelAddr": "10.50.0.7",
  });
  await ipam.assignIP({ node: "n1", use: "Tunnel", address: "10.50.0.7" });
  await allocate();
  equal((await annotationsNow())["projectcalico.org/IPv4VXLANTunnelAddr"], "10.50.0.7");
  equal((await ipam.ipsByHandle("vxlan-tunnel-addr-n1"))?.length, 1);
});

test("a pool that does not select the node, or is not for tunnels, takes the address back", async () => {
  const { allocate, annotationsNow, ipam, resources } = await world([
    pool("v", "10.50.0.0/24", { vxlanMode: "Always" }),
  ]);
  await allocate();
  await resources.edit("IPPool", { namespace: "", name: "v" }, (current) =>
    current === undefined ? "nothing" : { ...current, spec: { ...current.spec, nodeSelector: "rack == 'b'" } },
  );
  await allocate();
  deepEqual(await annotationsNow(), {});
  equal(await ipam.ipsByHandle("vxlan-tunnel-addr-n1"), undefined);
});

test("an address whose handle is lost is given back by itself, if it is ours", async () => {
  const { allocate, datastore, ipam, resources } = await world([pool("v", "10.50.0.0/24", { vxlanMode: "Always" })]);
  await allocate();
  await datastore.delete("IPAMHandle", { namespace: "", name: "vxlan-tunnel-addr-n1" });
  await resources.edit("IPPool", { namespace: "", name: "v" }, (current) =>
    current === undefined ? "nothing" : { ...current, spec: { ...current.spec, vxlanMode: "Never" } },
  );
  await allocate();
  const { pools } = await ipam.getUtilization();
  deepEqual(
    pools.flatMap(({ blocks }) => blocks.map(({ inUse }) => inUse)),
    [0n],
  );
});

test("a Node that cannot be written costs no address", async () => {
  const { allocate, datastore, ipam } = await world([pool("v", "10.50.0.0/24", { vxlanMode: "Always" })]);
  const refusing: Datastore = new Proxy(datastore, {
    get(target, name) {
      if (name === "update") {
        return (kind: string, ...rest: [never, never]) =>
          kind === "Node" ? Promise.reject(new Error("no")) : target.update(kind as "Node", ...rest);
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  await rejects(allocate(refusing), { code: "NODE_TUNNEL_ADDRESS" });
  equal(await ipam.ipsByHandle("vxlan-tunnel-addr-n1"), undefined);
});
