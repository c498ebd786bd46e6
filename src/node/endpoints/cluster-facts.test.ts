// host-local's words for the node's pod CIDRs: what stands in their place, for ADD and for giving back.
import { deepEqual, rejects } from "node:assert/strict";
import { test } from "node:test";
import type { JsonRecord } from "../../base/lib/index.ts";
import { createMemoryDatastore } from "../../calico/datastore/index.ts";
import { withAnyCidrs, withPodCidrs } from "./cluster-facts.ts";

const datastore = createMemoryDatastore();
const nodes: { [name: string]: object } = {
  both: { podCIDR: "10.70.1.0/24", podCIDRs: ["10.70.1.0/24", "fd00:70::/64"] },
  old: { podCIDR: "10.70.2.0/24" },
  none: {},
};
for (const [name, spec] of Object.entries(nodes))
  await datastore.create("Node", { apiVersion: "v1", kind: "Node", metadata: { name }, spec });
const cluster = async () => datastore;
const hostLocal = (more: JsonRecord) => ({ type: "host-local", ...more });

const rows: { name: string; node: string; given: JsonRecord; ipam: JsonRecord }[] = [
  {
    name: "the old form",
    node: "both",
    given: { ipam: hostLocal({ subnet: "usePodCidr" }) },
    ipam: hostLocal({ subnet: "10.70.1.0/24" }),
  },
  {
    name: "ranges of both families, in any case of letters",
    node: "both",
    given: { ipam: hostLocal({ ranges: [[{ subnet: "usepodcidr" }], [{ subnet: "USEPODCIDRIPV6" }]] }) },
    ipam: hostLocal({ ranges: [[{ subnet: "10.70.1.0/24" }], [{ subnet: "fd00:70::/64" }]] }),
  },
  {
    name: "a node with one CIDR",
    node: "old",
    given: { ipam: hostLocal({ subnet: "usePodCidr" }) },
    ipam: hostLocal({ subnet: "10.70.2.0/24" }),
  },
  {
    name: "kubernetes.node_name names the node",
    node: "both",
    given: { ipam: hostLocal({ subnet: "usePodCidr" }), kubernetes: { node_name: "old" } },
    ipam: hostLocal({ subnet: "10.70.2.0/24" }),
  },
  {
    name: "nobody asks, and no node is read",
    node: "nowhere",
    given: { ipam: hostLocal({ subnet: "10.1.0.0/16" }) },
    ipam: hostLocal({ subnet: "10.1.0.0/16" }),
  },
];
for (const { name, node, given, ipam } of rows)
  test(`pod CIDRs: ${name}`, async () => deepEqual(await withPodCidrs(given, node, cluster), { ...given, ipam }));

const refused: { node: string; subnet: string; says: string }[] = [
  { node: "none", subnet: "usePodCidr", says: "no podCidr for node none" },
  { node: "old", subnet: "usePodCidrIPv6", says: "usePodCidrIPv6 found but there is no IPv6 CIDR configured" },
  { node: "nowhere", subnet: "usePodCidr", says: 'nodes "nowhere" not found' },
];
for (const { node, subnet, says } of refused)
  test(`pod CIDRs: ${says}`, () =>
    rejects(withPodCidrs({ ipam: hostLocal({ subnet }) }, node, cluster), { message: says }));

test("to give an address back any CIDR will do, so long as no other range overlaps with it", () => {
  const other = [{ subnet: "10.100.0.0/24", rangeStart: "10.100.0.5" }];
  const bounds = { rangeStart: "10.70.1.5", rangeEnd: "10.70.1.9", gateway: "10.70.1.1" };
  const given = {
    name: "net",
    ipam: hostLocal({ ranges: [[{ subnet: "usePodCidr", ...bounds }], other, [{ subnet: "usePodCidrIPv6" }]] }),
  };
  const ipam = hostLocal({ ranges: [[{ subnet: "0.0.0.0/30" }], other, [{ subnet: "::4/126" }]] });
  deepEqual(withAnyCidrs(given), { name: "net", ipam });
  const old = { ipam: hostLocal({ subnet: "usepodcidr", dataDir: "/d", ...bounds }) };
  deepEqual(withAnyCidrs(old), { ipam: hostLocal({ subnet: "0.0.0.0/30", dataDir: "/d" }) });
  deepEqual(withAnyCidrs({ name: "net" }), { name: "net" });
});
