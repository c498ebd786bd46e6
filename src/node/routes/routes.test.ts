// The pure steps between what should be and what is done: settings, MTU, devices, far ends, ownership, plans.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Link, Neighbour, Route } from "../../base/linux/kernel.ts";
import { hostMtu, type MtuSettings, podMtu } from "./calculation/mtu.ts";
import { readRouteSettings, whoProgramsIpip, whoProgramsPlain } from "./settings.ts";
import { isOurs, type LinkRole } from "./tracking/ownership.ts";
import { planDestination } from "./tracking/plan-destination.ts";
import { spoilsChecksums } from "./vxlan/checksums.ts";
import { planAddresses, planDevice } from "./vxlan/device.ts";
import { planFarEnds } from "./vxlan/far-ends.ts";

const settingsWith = (values: { [name: string]: string }) =>
  readRouteSettings({ raw: (name) => values[name], onChange: () => ({ [Symbol.dispose]() {} }) }, "none");
const usual = settingsWith({});

const programmers: [said: string | undefined, bgp: "bird" | "none" | "foreign", who: string][] = [
  [undefined, "bird", "bird"],
  [undefined, "none", "us"],
  [undefined, "foreign", "others"],
  ["EnabledIPIPOnly", "bird", "bird"],
  ["EnabledIPIPOnly", "none", "others"],
  ["Disabled", "none", "others"],
  ["Enabled", "bird", "us"],
  ["EnabledNoEncapOnly", "foreign", "us"],
];
for (const [said, bgp, who] of programmers) {
  test(`plain pools with programClusterRoutes ${said} and ${bgp}: ${who}`, () =>
    equal(whoProgramsPlain(said, bgp).who, who));
}

const ipipProgrammers: [said: string | undefined, bgp: "bird" | "none" | "foreign", who: string][] = [
  [undefined, "bird", "us"],
  [undefined, "none", "us"],
  [undefined, "foreign", "us"],
  ["EnabledIPIPOnly", "bird", "us"],
  ["Enabled", "none", "us"],
  ["EnabledNoEncapOnly", "bird", "bird"],
  ["Disabled", "bird", "bird"],
  ["Disabled", "none", "others"],
];
for (const [said, bgp, who] of ipipProgrammers) {
  test(`IPIP pools with programClusterRoutes ${said} and ${bgp}: ${who}`, () => equal(whoProgramsIpip(said, bgp), who));
}

test("a device protocol that is not boot is also that of the other routes", () => {
  deepEqual([usual.deviceProtocol, usual.protocol], [3, 80]);
  const other = settingsWith({ DeviceRouteProtocol: "90" });
  deepEqual([other.deviceProtocol, other.protocol], [90, 90]);
});

test("MTU: the smallest uplink that is up, less what is in use", () => {
  const links = [
    { name: "eth0", isUp: true, mtu: 1500 },
    { name: "ens3", isUp: true, mtu: 9000 },
    { name: "eth1", isUp: false, mtu: 576 },
    { name: "cali1", isUp: true, mtu: 100 },
  ];
  equal(hostMtu(links, usual.uplinkPattern), 1500);
  equal(hostMtu(links.slice(3), usual.uplinkPattern), undefined);
  const none: MtuSettings = { set: { vxlan: { 4: 0, 6: 0 }, ipip: { 4: 0, 6: 0 } } };
  equal(podMtu(1500, [], none), 1500);
  equal(podMtu(1500, [{ what: "vxlan", family: 4 }], none), 1450);
  const both = [
    { what: "vxlan", family: 4 },
    { what: "vxlan", family: 6 },
    { what: "ipip", family: 4 },
  ] as const;
  equal(podMtu(1500, both, none), 1430);
  const set: MtuSettings = { set: { ...none.set, vxlan: { 4: 1400, 6: 0 } } };
  equal(podMtu(1500, [{ what: "vxlan", family: 4 }], set), 1400);
});

const wanted = {
  name: "vxlan.calico",
  id: 4096,
  port: 4789,
  local: "10.0.0.1",
  parent: 2,
  mac: "66:00:00:00:00:01",
  mtu: 1450,
};
const there = {
  ...{ index: 7, name: "vxlan.calico", kind: "vxlan", isUp: true, mtu: 1450, mac: wanted.mac },
  vxlan: { id: 4096, port: 4789, local: "10.0.0.1", parent: 2, learning: false },
} as unknown as Link; // what is not looked at is left out

const devices: { name: string; actual: Link | undefined; does: string[] }[] = [
  { name: "missing", actual: undefined, does: ["create"] },
  { name: "right", actual: there, does: [] },
  { name: "another MTU", actual: { ...there, mtu: 1400 }, does: ["edit"] },
  { name: "down", actual: { ...there, isUp: false }, does: ["edit"] },
  { name: "another id", actual: { ...there, vxlan: { ...wanted, id: 7 } }, does: ["delete", "create"] },
  { name: "another parent", actual: { ...there, vxlan: { ...wanted, parent: 3 } }, does: ["edit"] },
  { name: "another local", actual: { ...there, vxlan: { ...wanted, local: "10.0.0.2" } }, does: ["edit"] },
  { name: "another port", actual: { ...there, vxlan: { ...wanted, port: 8472 } }, does: ["delete", "create"] },
  { name: "another MAC", actual: { ...there, mac: "66:00:00:00:00:02" }, does: ["edit"] },
  { name: "no tunnel at all", actual: { ...there, kind: "dummy", vxlan: undefined }, does: ["delete", "create"] },
];
for (const { name, actual, does } of devices) {
  test(`the device is ${name}`, () =>
    deepEqual(
      planDevice(wanted, actual).changes.map((change) => change.do),
      does,
    ));
}

test("the new tunnel address comes before the old one goes; the kernel's own stays", () => {
  const on = (address: string) => ({ address, index: 7, family: "inet", scope: "global", flags: [] }) as const;
  const plan = planAddresses(7, "10.1.0.2", [on("10.1.0.1/32"), on("fe80::1/64")]);
  deepEqual(
    plan.map((change) => [change.do, "address" in change && change.address.address]),
    [
      ["replace", "10.1.0.2/32"],
      ["delete", "10.1.0.1/32"],
    ],
  );
});

test("far ends: what is missing is written, what is in excess goes, what is not permanent is not ours", () => {
  const entry = (mac: string, address: string, state: "permanent" | "reachable"): Neighbour => ({
    ...{ family: "bridge", index: 7, mac, address, states: [state], flags: ["self"] },
  });
  const plan = planFarEnds({
    index: 7,
    family: "inet",
    wanted: [
      { node: "a", address: "172.16.0.1", tunnel: "10.1.0.1", mac: "66:00:00:00:00:0a" },
      { node: "b", address: "172.16.0.2", tunnel: "10.1.1.1", mac: "66:00:00:00:00:0b" },
      { node: "c", address: "172.16.0.3", tunnel: "10.1.1.1", mac: "66:00:00:00:00:0b" }, // claims what is b's
    ],
    entries: [
      entry("66:00:00:00:00:0a", "172.16.0.1", "permanent"),
      entry("66:00:00:00:00:0b", "172.16.0.9", "permanent"),
      entry("66:00:00:00:00:0d", "172.16.0.4", "reachable"),
    ],
    neighbours: [
      { family: "inet", index: 7, address: "10.1.0.1", mac: "66:00:00:00:00:0a", states: ["permanent"], flags: [] },
      { family: "inet", index: 7, address: "10.1.9.1", mac: "66:00:00:00:00:0e", states: ["permanent"], flags: [] },
    ],
  });
  const words = (changes: typeof plan.writes) =>
    changes.map((change) => ("neighbour" in change ? `${change.neighbour.mac ?? ""} ${change.neighbour.address}` : ""));
  deepEqual(words(plan.writes), ["66:00:00:00:00:0b 172.16.0.2", "66:00:00:00:00:0b 10.1.1.1"]);
  deepEqual(words(plan.deletes), ["66:00:00:00:00:0b 172.16.0.9", " 10.1.9.1"]);
});

test("far ends: one that nobody has any more stays known as long as a route leads there", () => {
  const mac = "66:00:00:00:00:0a";
  const known = { index: 7, mac, states: ["permanent"], flags: [] } as const;
  const planOf = (isInUse: boolean) =>
    planFarEnds({
      ...{ index: 7, family: "inet", wanted: [], isInUse: () => isInUse },
      entries: [{ ...known, family: "bridge", address: "172.16.0.1" }],
      neighbours: [{ ...known, family: "inet", address: "10.1.0.1" }],
    });
  const used = planOf(true);
  deepEqual([used.deletes.length, used.kept], [0, ["10.1.0.1"]]);
  const unused = planOf(false);
  deepEqual([unused.deletes.length, unused.kept], [2, []]);
});

const route = (more: Partial<Route> = {}): Route => ({
  ...{ family: "inet", destination: "10.1.0.0/26", type: "unicast", table: 254, protocol: 80, scope: "global" },
  ...{ gateway: "172.16.0.2", index: 2, onlink: true },
  ...more,
});

const owners: { name: string; route: Route; role: LinkRole; settings?: { [name: string]: string }; ours: boolean }[] = [
  { name: "protocol 80 anywhere", route: route(), role: "other", ours: true },
  { name: "protocol 80 of another table", route: route({ table: 100 }), role: "other", ours: false },
  { name: "static on the uplink", route: route({ protocol: "static" }), role: "other", ours: false },
  { name: "boot on the uplink", route: route({ protocol: "boot" }), role: "other", ours: false },
  { name: "static on a pod's", route: route({ protocol: "static" }), role: "workload", ours: true },
  {
    ...{ name: "static on a pod's, to be left", route: route({ protocol: "static" }), role: "workload", ours: false },
    settings: { RemoveExternalRoutes: "false" },
  },
  {
    ...{ name: "boot on a pod's, others to be left", route: route({ protocol: "boot" }), role: "workload", ours: true },
    settings: { RemoveExternalRoutes: "false" },
  },
  { name: "BIRD's on a pod's", route: route({ protocol: "bird" }), role: "workload", ours: false },
  { name: "the kernel's on a pod's", route: route({ protocol: "kernel" }), role: "workload", ours: false },
  { name: "anybody's on the tunnel", route: route({ protocol: "static" }), role: "tunnel", ours: true },
  { name: "BIRD's on the IPIP device", route: route({ protocol: "bird" }), role: "ipip", ours: true },
  {
    ...{ name: "BIRD's on the IPIP device, which BIRD keeps", route: route({ protocol: "bird" }), role: "ipip" },
    ...{ settings: { ProgramClusterRoutes: "Disabled" }, ours: false },
  },
  { name: "static on the IPIP device", route: route({ protocol: "static" }), role: "ipip", ours: false },
  { name: "the kernel's on the tunnel", route: route({ protocol: "kernel" }), role: "tunnel", ours: false },
];
for (const { name, route: one, role, settings = {}, ours } of owners) {
  test(`a route is ${ours ? "ours" : "not ours"}: ${name}`, () =>
    equal(isOurs(one, role, settingsWith(settings)), ours));
}

const plans: { name: string; wanted: boolean; actual: Route[]; does: string[]; mayGo?: boolean }[] = [
  { name: "missing", wanted: true, actual: [], does: ["create"] },
  { name: "right", wanted: true, actual: [route()], does: [] },
  { name: "another gateway", wanted: true, actual: [route({ gateway: "172.16.0.3" })], does: ["replace"] },
  { name: "one more with a metric", wanted: true, actual: [route(), route({ metric: 9 })], does: ["delete 9"] },
  { name: "one more, in grace", wanted: true, actual: [route(), route({ metric: 9 })], does: [], mayGo: false },
  { name: "only one with a metric", wanted: true, actual: [route({ metric: 9 })], does: ["create", "delete 9"] },
  { name: "BIRD's in its place", wanted: true, actual: [route({ protocol: "bird" })], does: ["replace"] },
  { name: "BIRD's beside it", wanted: true, actual: [route({ protocol: "bird", metric: 32 })], does: ["create"] },
  { name: "unwanted", wanted: false, actual: [route()], does: ["delete 0"] },
  { name: "unwanted, in grace", wanted: false, actual: [route()], does: [], mayGo: false },
  { name: "unwanted, BIRD's", wanted: false, actual: [route({ protocol: "bird" })], does: [] },
];
for (const { name, wanted: isWanted, actual, does, mayGo = true } of plans) {
  test(`a destination's plan: ${name}`, () => {
    const { write, deletes } = planDestination({
      wanted: isWanted
        ? { destination: "10.1.0.0/26", gateway: "172.16.0.2", index: 2, onlink: true, protocol: 80 }
        : undefined,
      actual,
      isOurs: (one) => one.protocol === 80,
      isReplaceable: (one) => one.protocol === "bird",
      mayGo: () => mayGo,
    });
    deepEqual([...(write ? [write.do] : []), ...deletes.map((each) => `delete ${each.route.metric ?? 0}`)], does);
  });
}

test("kernels up to 5.7 spoil checksums", () => {
  const seen = ["4.18.0-553.el8", "5.7.0", "5.7.1", "5.15.0-91-generic", "6.18", "odd"].map(spoilsChecksums);
  deepEqual(seen, [true, true, false, false, false, false]);
});
