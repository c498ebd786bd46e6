// IP in IP: the device, the address on it and the routes through it, in a namespace. Few kernels that run tests have IP in IP, so a bridge stands
// in for the device; what a packet looks like on the wire is the kernel's business, and not tested.
import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { noNamespaces } from "../../../../test/kit/namespace.ts";
import { nodeOne } from "../../../../test/kit/route-nodes/kept-node.ts";
import { TestSettings } from "../../../../test/kit/route-nodes/running.ts";
import { removeOwnRoutes } from "../remove-own.ts";
import { readRouteSettings } from "../settings.ts";

const skip = noNamespaces;

const tunnelled = [
  "10.99.1.0/26 via 172.30.0.2 dev tunl0 proto 80 onlink mtu 1480",
  "10.99.2.0/26 via 172.30.1.3 dev tunl0 proto 80 onlink mtu 1480",
  "blackhole 10.99.0.0/26 proto 80",
];

test("blocks of an IPIP pool are reached through tunl0, which has the node's address", { skip }, async () => {
  const { real, keeper, setMode, keep, addresses } = await nodeOne();
  setMode("ipip");
  deepEqual(await keep(), tunnelled);
  deepEqual(await addresses(), ["10.99.0.0/32"]);
  deepEqual([keeper.problem, keeper.routes.troubles.worst()], [undefined, undefined]);
  const index = (await real.link("tunl0"))?.index ?? 0;
  await real.change({ do: "edit", link: { link: index, mtu: 1300, up: false } });
  deepEqual(await keep(), tunnelled, "the device is put right, and routes that went with it come back");
  await real.change({ do: "delete", link: index });
  deepEqual(await keep(), tunnelled, "a device that somebody deletes is made again");
});

test("CrossSubnet: a node of our own network is reached without the tunnel", { skip }, async () => {
  const { setMode, keep } = await nodeOne();
  setMode("ipip-cross-subnet");
  deepEqual(await keep(), ["10.99.1.0/26 via 172.30.0.2 dev eth0 proto 80 onlink", ...tunnelled.slice(1)]);
});

test("routes through tunl0 that BIRD has left give way, and those of others do not", { skip }, async () => {
  const { real, setMode, keep } = await nodeOne();
  setMode("ipip");
  await keep();
  const index = (await real.link("tunl0"))?.index ?? 0;
  const by = { index, gateway: "172.30.0.2", onlink: true } as const;
  await real.change({ do: "create", route: { ...by, destination: "10.99.1.0/26", protocol: "bird", metric: 1024 } });
  await real.change({ do: "create", route: { ...by, destination: "10.99.7.0/26", protocol: "bird" } });
  await real.change({ do: "create", route: { ...by, destination: "10.98.7.0/26", protocol: "static" } });
  deepEqual(await keep(), ["10.98.7.0/26 via 172.30.0.2 dev tunl0 proto static onlink", ...tunnelled]);
});

test("a pool goes from IPIP to VXLAN: the routes move, and the address is taken off tunl0", { skip }, async () => {
  const { real, setMode, keep, addresses } = await nodeOne();
  setMode("ipip");
  await keep();
  const index = (await real.link("tunl0"))?.index ?? 0;
  await real.change({ do: "create", address: { index, address: "192.0.2.1/32" } }); // of no pool: somebody else's, once it is not ours
  setMode("vxlan");
  deepEqual(await keep(), [
    "10.99.1.0/26 via 10.99.1.1 dev vxlan.calico proto boot onlink mtu 1450",
    "10.99.2.0/26 via 10.99.2.1 dev vxlan.calico proto boot onlink mtu 1450",
    "blackhole 10.99.0.0/26 proto 80",
  ]);
  deepEqual(await addresses(), ["192.0.2.1/32"]);
});

test("IPIP is left to BIRD or switched off where the settings say so", { skip }, async () => {
  const left = await nodeOne({ settings: { ProgramClusterRoutes: "Disabled" } });
  left.setMode("ipip");
  deepEqual(await left.keep(), []);
  deepEqual(await left.addresses(), ["10.99.0.0/32"], "the device is there for BIRD");
  match(left.keeper.routes.troubles.worst()?.detail ?? "", /BIRD has no route/);
  const off = await nodeOne({ settings: { IpInIpEnabled: "false" } });
  off.setMode("ipip");
  deepEqual([await off.keep(), await off.addresses(), off.keeper.problem], [[], [], undefined]);
});

test("a kernel without IP in IP, or another device of that name: not ready, and it says what to do", {
  skip,
}, async () => {
  const { real, keeper, setMode, keep } = await nodeOne({ isReal: true });
  setMode("ipip");
  await keep();
  if (keeper.problem !== undefined) match(keeper.problem, /^tunl0: this kernel has no IP in IP: modprobe ipip/);
  if (keeper.problem !== undefined) match(keeper.routes.troubles.worst()?.detail ?? "", /IP in IP device is not there/);
  const own = await real.link("tunl0");
  if (own !== undefined) await real.change({ do: "delete", link: own.index });
  await real.change({ do: "create", link: { name: "tunl0", kind: "veth", peer: { name: "peer" } } });
  await keep();
  equal(keeper.problem, "tunl0: it is a veth and no IP in IP device: remove or rename it");
});

test("what is removed with the node: its routes; a tunl0 that is no IPIP device stays", { skip }, async () => {
  const { namespace, real, setMode, keep } = await nodeOne();
  setMode("ipip");
  await keep();
  const removed = await removeOwnRoutes(readRouteSettings(new TestSettings(), "bird"), { namespace });
  deepEqual([removed.routes, removed.devices, removed.refusals], [3, [], []]);
  equal((await real.link("tunl0"))?.name, "tunl0");
});
