// Which address a node has: methods over lists of interfaces, and the table of decisions. Whole start-ups are in test/system/startup-golden.test.ts.
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { test } from "node:test";
import { recordLog } from "../../../../test/kit/recorded-log.ts";
import { silentLog } from "../../../base/lib/index.ts";
import { conflictsWith } from "./conflicts.ts";
import { decideAddresses } from "./decide.ts";
import { type DetectWorld, detectAddress } from "./detect.ts";
import { type HostInterface, interfacesForNode } from "./interfaces.ts";

let index = 100;
const link = (name: string, ...cidrs: string[]): HostInterface => ({
  index: index--, // the newest comes first
  name,
  addresses: cidrs.map((cidr) => ({ family: cidr.includes(":") ? (6 as const) : (4 as const), cidr })),
});
const host = [
  link("eth1", "10.0.2.15/24", "fd00:2::15/64"),
  link("wg-v6.cali", "10.99.0.1/32"),
  link("eth0", "169.254.1.1/16", "172.30.0.11/24", "172.30.0.12/24", "fe80::1/64", "fd00:30::11/64"),
  link("docker0", "172.17.0.1/16"),
  link("lo", "127.0.0.1/8", "::1/128"),
];
const world = (given: Partial<DetectWorld> = {}): DetectWorld => ({
  interfaces: host,
  internalIps: ["fd00:30::11", "172.30.0.12"],
  reach: async () => "172.30.0.11",
  log: silentLog,
  ...given,
});

const methods: { method: string; family?: 4 | 6; found: string | undefined; given?: Partial<DetectWorld> }[] = [
  { method: "", found: "10.0.2.15/24" },
  { method: "first-found", family: 6, found: "fd00:2::15/64" },
  { method: "first-found", given: { interfaces: host.slice(2) }, found: "172.30.0.11/24" },
  { method: "first-found", given: { interfaces: host.slice(3) }, found: undefined },
  { method: "interface=eth0", found: "172.30.0.11/24" },
  { method: "interface=docker0 , eth9", found: "172.17.0.1/16" },
  { method: "interface=th", found: "10.0.2.15/24" },
  { method: "interface=(", found: undefined },
  { method: "interface=(?i)ETH0", found: "172.30.0.11/24" },
  { method: "interface=^[[:alpha:]]+0$", found: "172.30.0.11/24" },
  { method: "interface=eth(?!1)", found: undefined }, // Go has no looking ahead
  { method: "skip-interface=eth1,lo", found: "172.30.0.11/24" },
  { method: "skip-interface=eth.*", found: undefined },
  { method: "cidr=172.16.0.0/12", found: "172.30.0.11/24" },
  { method: "cidr=10.9.0.0/16, 172.17.0.0/16", found: "172.17.0.1/16" },
  { method: "cidr=10.0.2.15", found: undefined },
  { method: "cidr=fd00:30::/32", family: 6, found: "fd00:30::11/64" },
  { method: "can-reach=10.9.9.9", found: "172.30.0.11/24" },
  { method: "can-reach=10.9.9.9", given: { reach: async () => "10.1.1.1" }, found: undefined },
  { method: "can-reach=x", given: { reach: () => Promise.reject(new Error("no route")) }, found: undefined },
  { method: "kubernetes-internal-ip", found: "172.30.0.12/24" },
  { method: "kubernetes-internal-ipx", family: 6, found: "fd00:30::11/64" },
  { method: "kubernetes-internal-ip", given: { internalIps: [] }, found: undefined },
  { method: "kubernetes-internal-ip", given: { internalIps: undefined }, found: undefined },
];
for (const { method, family = 4, found, given } of methods) {
  test(`IPv${family} by ${method || "nothing"}${given === undefined ? "" : " elsewhere"}: ${found ?? "nothing"}`, async () => {
    equal(await detectAddress(method, family, world(given)), found);
  });
}

test("a method that is none ends start-up", async () => {
  await rejects(detectAddress("firstfound", 4, world()), { says: "Invalid IP autodetection method: firstfound" });
});

type Decision = { ip?: string; ip6?: string; old?: string; old6?: string; is?: string; is6?: string; fails?: RegExp };
const decisions: Decision[] = [
  { ip: "autodetect", is: "10.0.2.15/24" },
  { ip: "", is: "10.0.2.15/24" },
  { ip: "", old: "1.2.3.4/24", is: "1.2.3.4/24" },
  { ip: "none", old: "1.2.3.4/24", is: "1.2.3.4/24" },
  { ip: "none", is: "" },
  { ip: "172.30.0.12", is: "172.30.0.12/24" },
  { ip: "172.30.0.66", is: "172.30.0.66/32" },
  { ip: "172.30.0.66/20", old: "1.2.3.4/24", is: "172.30.0.66/20" },
  { ip: "fd00::1", fails: /valid IPv4 address: IP=fd00::1/ },
  { ip: "none", ip6: "", is6: "" },
  { ip: "none", ip6: "autodetect", is6: "fd00:2::15/64" },
  { ip: "none", ip6: "fd00:30::11", is6: "fd00:30::11/64" },
  { ip: "none", ip6: "fd00:30::99", is6: "fd00:30::99/128" },
  { ip: "none", ip6: "", old6: "fd00::5/64", is6: "fd00::5/64" },
  { ip: "none", old: "rubbish", fails: /Failed to parse/ },
];
for (const { ip = "", ip6 = "", old = "", old6 = "", is, is6 = "", fails } of decisions) {
  test(`IP=${ip} IP6=${ip6} on ${old || "nothing"}, ${old6 || "nothing"}`, async () => {
    const settings = { ipv4: { given: ip, method: "" }, ipv6: { given: ip6, method: "" } };
    const decided = decideAddresses(settings, { ipv4: old, ipv6: old6 }, world());
    if (fails !== undefined) return await rejects(decided, fails);
    const { ipv4, ipv6 } = await decided;
    deepEqual([ipv4, ipv6], [is ?? "", is6]);
  });
}

test("what is not found is an error where there was nothing before, and a warning where there was", async () => {
  const settings = { ipv4: { given: "autodetect", method: "interface=bond0" }, ipv6: { given: "", method: "" } };
  await rejects(decideAddresses(settings, { ipv4: "", ipv6: "" }, world()), /failed to autodetect an IPv4 address/);
  const { log, lines } = recordLog();
  const { ipv4 } = await decideAddresses(settings, { ipv4: "9.9.9.9/24", ipv6: "" }, world({ log }));
  equal(ipv4, "9.9.9.9/24");
  match(
    lines.map(({ message }) => message).join("\n"),
    /keeping existing value: 9.9.9.9\/24\n.*Unable to confirm IPv4/,
  );
});

test("interfaces for the Node: by name, of the families that are on, without those of other software", () => {
  deepEqual(interfacesForNode(host, [4]), [
    { name: "eth0", addresses: ["169.254.1.1", "172.30.0.11", "172.30.0.12"] },
    { name: "eth1", addresses: ["10.0.2.15"] },
  ]);
  deepEqual(interfacesForNode([link("eth9")], [4, 6]), [{ name: "eth9" }]);
  deepEqual(interfacesForNode(host, []), []);
});

test("conflicts: masks do not count, unreadable addresses conflict with nothing, one line names both nodes", () => {
  const { log, lines } = recordLog();
  const own = { name: "n1", ipv4: "10.0.0.1/24", ipv6: "fd00::1/64" };
  const others = [
    { name: "n1", ipv4: "10.0.0.9/24", ipv6: "" },
    { name: "n2", ipv4: "10.0.0.1/32", ipv6: "fd00::2/64" },
    { name: "n3", ipv4: "rubbish", ipv6: "fd00:0::1/64" },
  ];
  const found = conflictsWith(own, others, log);
  deepEqual(
    found.map(({ family, other }) => [family, other]),
    [
      [4, "n2"],
      [6, "n3"],
    ],
  );
  const said = lines.map(({ message }) => message);
  equal(said[1], "Calico node 'n2' is already using the IPv4 address 10.0.0.1. Node 'n1' has it, too");
  match(said[0] ?? "", /IPv4 address has changed/);
});
