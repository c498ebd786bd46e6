// What the network configuration says about a pod's interface.
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import type { JsonRecord } from "../../../base/lib/index.ts";
import {
  checkDataplane,
  checkDeviceType,
  checkPolicyWait,
  readEndpointSettings,
  readMtu,
  readPodRoutes,
} from "./settings.ts";

const read = (given: JsonRecord) => readEndpointSettings({ name: "net", ...given });

test("what nobody says has the original's defaults", () => {
  const { policyType, mtu, queues, deviceType, ipamType, features, policyWaitSeconds, logLevel } = read({});
  deepEqual([policyType, mtu, queues, deviceType, ipamType], ["", 0, 1, "veth", ""]);
  deepEqual([features, policyWaitSeconds, logLevel], [{ ipAddrsNoIpam: false, floatingIps: false }, 0, "info"]);
});

test("what is said is read", () => {
  const settings = read({
    policy: { type: "k8s" },
    mtu: 1450,
    num_queues: 4,
    ipam: { type: "host-local" },
    container_settings: { allow_ip_forwarding: true },
    feature_control: { floating_ips: true },
    log_level: "Debug",
    log_file_path: "/a",
  });
  deepEqual([settings.policyType, settings.mtu, settings.queues, settings.ipamType], ["k8s", 1450, 4, "host-local"]);
  deepEqual([settings.allowIpForwarding, settings.logLevel], [true, "debug"]);
  deepEqual([settings.features.floatingIps, settings.logFile], [true, "/a"]);
});

const refused: { name: string; given: JsonRecord; says: RegExp }[] = [
  { name: "a number for a text", given: { device_type: 7 }, says: /device_type must be a text, and is 7/ },
  {
    name: "a list for an object",
    given: { feature_control: [] },
    says: /feature_control must be an object, and is \[\]/,
  },
  { name: "a text for an object", given: { policy: "k8s" }, says: /policy must be an object, and is "k8s"/ },
  { name: "a text for a number", given: { mtu: "1450" }, says: /mtu must be a whole number, and is "1450"/ },
  { name: "a text for a flag", given: { require_mtu_file: "yes" }, says: /require_mtu_file must be true or false/ },
];
for (const { name, given, says } of refused)
  test(`${name} is refused`, () => throws(() => read(given), { message: says }));

const routes: { name: string; ipam: JsonRecord; are: readonly string[] | RegExp }[] = [
  {
    name: "networks, each once, without bits of hosts",
    ipam: { type: "host-local", routes: [{ dst: "10.1.2.3/8" }, {}, { dst: "10.0.0.0/8" }] },
    are: ["10.0.0.0/8"],
  },
  { name: "host-local's alone", ipam: { type: "calico-ipam", routes: [{ dst: "10.0.0.0/8" }] }, are: [] },
  {
    name: "one to no network",
    ipam: { type: "host-local", routes: [{ dst: "10.0.0.1" }] },
    are: /^invalid CIDR address: 10\.0\.0\.1$/,
  },
  {
    name: "one for a list",
    ipam: { type: "host-local", routes: { dst: "10.0.0.0/8" }, gw: null, ranges: [[5, true]] },
    are: /^failed to parse host-local IPAM routes section; expecting list, not: map\[gw:<nil> ranges:\[\[5 true\]\] routes:map\[dst:10\.0\.0\.0\/8\] type:host-local\]$/,
  },
  {
    name: "one to a number",
    ipam: { type: "host-local", routes: [{ dst: 5 }] },
    are: /^invalid IPAM routes section; expecting 'dst' to be a string, not: 5$/,
  },
];
for (const { name, ipam, are } of routes)
  test(`routes: ${name}`, () => {
    const ask = () => readPodRoutes({ ipam });
    if (are instanceof RegExp) throws(ask, { message: are });
    else deepEqual(ask(), are);
  });

test("there is always one queue", () => {
  for (const num_queues of [0, -1]) equal(read({ num_queues }).queues, 1);
});

test("what only ADD needs is no reason to refuse DEL", () => {
  const given = { policy_setup_timeout_seconds: -1, ipam: { type: "host-local", routes: "none" } };
  const settings = read(given);
  throws(() => checkPolicyWait(settings), { message: "invalid pod startup delay of -1" });
  throws(() => readPodRoutes(given), { message: /expecting list, not: map\[routes:none type:host-local\]$/ });
});

test("a device type that nobody knows is refused in the original's words", () => {
  checkDeviceType(read({ device_type: "netkit" }));
  throws(() => checkDeviceType(read({ device_type: "macvlan" })), {
    message: 'unknown device_type "macvlan" in CNI config (supported: "veth", "netkit")',
  });
});

test("another dataplane than the kernel's is refused", () => {
  checkDataplane({});
  checkDataplane({ dataplane_options: {} });
  throws(() => checkDataplane({ dataplane_options: { type: "x" } }), { message: "invalid dataplane type: x" });
  throws(() => checkDataplane({ dataplane_options: { type: "grpc", socket: "unix:///s" } }), {
    message: "the gRPC dataplane is not built in this plugin",
  });
});

const mtus: { name: string; given: JsonRecord; content: string | undefined; mtu: number | RegExp }[] = [
  { name: "no file and no word: the kernel's own", given: {}, content: undefined, mtu: 0 },
  { name: "the file's, with a line's end", given: {}, content: "1400\n", mtu: 1400 },
  { name: "the configuration's wins", given: { mtu: 1450 }, content: "1400", mtu: 1450 },
  {
    name: "a file that must be there",
    given: { mtu: 1450, require_mtu_file: true },
    content: undefined,
    mtu: /open \/f: no such file/,
  },
  {
    name: "a file that holds a word",
    given: { mtu: 1450 },
    content: "many",
    mtu: /strconv.Atoi: parsing "many": invalid syntax/,
  },
  {
    name: "a file that holds more than a number can be",
    given: {},
    content: "9223372036854775808",
    mtu: /strconv.Atoi: parsing "9223372036854775808": value out of range/,
  },
];
for (const { name, given, content, mtu } of mtus)
  test(`MTU: ${name}`, () => {
    const ask = () => readMtu(content, read(given), "/f");
    if (typeof mtu === "number") equal(ask(), mtu);
    else throws(ask, { message: mtu });
  });
