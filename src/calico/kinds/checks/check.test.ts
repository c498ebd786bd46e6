import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { validate } from "../validate.ts";
import { always, each, fields, filled, given, goName, type Problem, printGo, problemText } from "./check.ts";
import { required, within } from "./tags.ts";

const names: [field: string, go: string][] = [
  ["peerIP", "PeerIP"],
  ["nets", "Nets"],
  ["cidr", "CIDR"],
  ["asNumber", "ASNumber"],
  ["assignmentMode", "AssignmentMode"],
  ["ipv4VXLANTunnelAddr", "IPv4VXLANTunnelAddr"],
  ["ipv6VXLANTunnelAddr", "IPv6VXLANTunnelAddr"],
  ["vxlanTunnelMACAddrV6", "VXLANTunnelMACAddrV6"],
  ["ipNATs", "IPNATs"],
  ["mac", "MAC"],
  ["notICMP", "NotICMP"],
  ["mtuIfacePattern", "MTUIfacePattern"],
  ["natOutgoingExclusions", "NATOutgoingExclusions"],
  ["nftablesFlowTableDataIfacePattern", "NFTablesFlowTableDataIfacePattern"],
  ["bpfDSROptoutCIDRs", "BPFDSROptoutCIDRs"],
  ["bpfConntrackMode", "BPFConntrackCleanupMode"],
  ["awsSrcDstCheck", "AWSSrcDstCheck"],
  ["interfaceName", "InterfaceName"],
  ["goGCThreshold", "GoGCThreshold"],
];
for (const [field, go] of names) test(`Go calls ${field} ${go}`, () => equal(goName(field), go));

const printed: [value: unknown, text: string][] = [
  ["a", "a"],
  [undefined, "<nil>"],
  [["a", "b"], "[a b]"],
  [[], "[]"],
  [{ exact: "a", prefix: "" }, "{a }"],
  [2n ** 60n, "1152921504606846976"],
];
for (const [value, text] of printed) test(`Go prints ${text}`, () => equal(printGo(value), text));

type Sample = {
  readonly port?: number;
  readonly size?: number;
  readonly items?: readonly { readonly name?: string }[];
};
const sample = fields<Sample>(
  {
    port: filled(...within(1, 10)),
    size: given(...within(1, 10)),
    items: each(fields<{ readonly name?: string }>({ name: always("", required) })),
  },
  function* ({ port = 0, size = 0 }) {
    if (port > size) yield { field: "spec.port", rule: "must be up to size", name: "Port", reason: "too large" };
  },
);
const found = (value: Sample) =>
  [...sample(value, { path: "spec", name: "Spec" })].map(
    ({ field, name, reason }) => `${field} ${name} ${reason.split(" ").at(-2)}`,
  );

test("zero is nothing where something may be given, and is looked at where it is given", () => {
  deepEqual(found({ port: 0 }), []);
  deepEqual(found({ size: 0 }), ["spec.size Size gte"]);
});

test("fields come in the order of the type, elements under their number, and the whole last", () => {
  deepEqual(found({ items: [{ name: "a" }, {}], size: 1, port: 11 }), [
    "spec.port Port lte",
    "spec.items[1].name Name required",
    "spec.port Port too",
  ]);
});

const one: Problem = { field: "spec.a", rule: "must be b", name: "A", value: "x", reason: "is not b" };
test("what is wrong is said as calicoctl says it", () => {
  equal(problemText([]), "");
  equal(problemText([one]), "error with field A = 'x' (is not b)");
  equal(problemText([one, one]), "error with the following fields:\n-  A = 'x' (is not b)\n-  A = 'x' (is not b)\n");
  equal(problemText([{ field: "", rule: "", name: "", reason: "Cannot create it" }]), "Cannot create it");
});

test("a node's keys are looked at in its status", () => {
  const node = (wireguardPublicKey: string) => ({ metadata: { name: "n" }, spec: {}, status: { wireguardPublicKey } });
  deepEqual(validate("Node", node("jlkVyQYooZYzI2wFfNhSZez5eWh44yfq1wKVjLvSXgY=")), []);
  deepEqual(validate("Node", node("jlkVyQYooZYzI2wFfNhSZez5eWh44yfq1wKVjLvSXga=")), []);
  deepEqual(
    validate("Node", node("short")).map(({ field, name }) => [field, name]),
    [["status.wireguardPublicKey", "WireguardPublicKey"]],
  );
});
