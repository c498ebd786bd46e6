// What nodes, pools and blocks say about the way to an address.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { parseRange } from "../../base/lib/index.ts";
import {
  blockOfPath,
  nodeOfPath,
  poolOf,
  poolOfPath,
  readBlock,
  readNode,
  readPool,
  routeProtocol,
  sameSubnet,
  vtepMac,
} from "./index.ts";

test("the MAC at a tunnel's end comes from the node's name, as every other node computes it", () => {
  equal(vtepMac("cka002", 4), "66:58:f7:1e:87:f2"); // seen on a node of the original
  equal(vtepMac("cka002", 6), vtepMac("cka002-v6", 4));
});

const addresses: { name: string; spec: object; v4?: string; v6?: string }[] = [
  { name: "BGP's address", spec: { bgp: { ipv4Address: "10.0.0.1/24" } }, v4: "10.0.0.1" },
  { name: "BGP's without a mask", spec: { bgp: { ipv4Address: "10.0.0.1" } }, v4: "10.0.0.1" },
  {
    name: "with one for BGP, no other is asked for",
    spec: { bgp: { ipv6Address: "fd00::1/64" }, addresses: [{ type: "InternalIP", address: "10.0.0.2" }] },
    v6: "fd00::1",
  },
  {
    name: "without one, the internal, then the external",
    spec: {
      addresses: [
        { type: "ExternalIP", address: "192.0.2.1" },
        { type: "InternalIP", address: "10.0.0.2" },
        { type: "ExternalIP", address: "FD00::0:2" },
      ],
    },
    v4: "10.0.0.2",
    v6: "fd00::2",
  },
  { name: "nonsense is none", spec: { bgp: { ipv4Address: "fd00::1", ipv6Address: "x" } } },
];
for (const { name, spec, v4, v6 } of addresses) {
  test(`a node's address: ${name}`, () => {
    const node = readNode("n", { spec });
    deepEqual([node?.[4]?.address, node?.[6]?.address], [v4, v6]);
  });
}

test("the same subnet is what our own mask says", () => {
  const facts = (address: string) => {
    const found = readNode("n", { spec: { bgp: { ipv4Address: address } } })?.[4];
    if (found === undefined) throw new Error(address);
    return found;
  };
  equal(sameSubnet(facts("10.0.0.1/24"), facts("10.0.0.9/32")), true);
  equal(sameSubnet(facts("10.0.0.9/32"), facts("10.0.0.1/24")), false);
});

const pools: [value: object, way: string][] = [
  [{ vxlan_mode: "", ipip_mode: "" }, "plain"],
  [{ vxlan_mode: "always", ipip_mode: "" }, "vxlan"],
  [{ vxlan_mode: "cross-subnet", ipip_mode: "always" }, "vxlan"],
  [{ vxlan_mode: "", ipip_mode: "cross-subnet" }, "ipip"],
  [{ vxlan_mode: "never", ipip_mode: "never", disabled: true }, "plain"],
  [{ vxlan_mode: "always", allowed_uses: ["LoadBalancer"] }, "none"],
  [{ vxlan_mode: "always", allowed_uses: ["LoadBalancer", "Workload"] }, "vxlan"],
];
for (const [value, way] of pools) {
  test(`a pool ${JSON.stringify(value)} is ${way}`, () => equal(readPool({ cidr: "10.0.0.0/16", ...value })?.way, way));
}

test("of pools within pools the smallest counts", () => {
  const all = ["10.0.0.0/8", "10.1.0.0/16", "fd00::/8"].flatMap((cidr) => readPool({ cidr }) ?? []);
  const at = (text: string) =>
    poolOf(all, parseRange(text) ?? { family: 4, first: 0n, prefixLength: 0 })?.range.prefixLength;
  deepEqual([at("10.1.2.0/26"), at("10.2.0.0/26"), at("fd00::1/128"), at("11.0.0.0/26")], [16, 8, 8, undefined]);
});

test("a block's borrowed addresses are those of nodes that do not own it", () => {
  const attributes = [{ secondary: { node: "a" } }, { secondary: { node: "b" } }, {}];
  const block = { cidr: "10.0.0.4/30", affinity: "host:a", allocations: [0, 1, null, 2], attributes };
  deepEqual(readBlock(block)?.borrowed, [{ address: "10.0.0.5", node: "b" }]);
  deepEqual(
    readBlock({ ...block, affinity: null })?.borrowed.map(({ node }) => node),
    ["a", "b"],
  );
  equal(readBlock({ ...block, affinity: "virtual:vm" })?.owner, "vm");
  equal(readBlock({ cidr: "nonsense" }), undefined);
});

test("keys lead to what they are about, and only those", () => {
  equal(nodeOfPath("/calico/resources/v3/projectcalico.org/nodes/n.1"), "n.1");
  equal(nodeOfPath("/calico/resources/v3/projectcalico.org/profiles/n"), undefined);
  equal(poolOfPath("/calico/v1/ipam/v6/pool/fd00::-48"), "fd00::/48");
  equal(poolOfPath("/calico/v1/ipam/v4/other/10.0.0.0-8"), undefined);
  equal(blockOfPath("/calico/ipam/v2/assignment/ipv4/block/10.0.0.0-26"), "10.0.0.0/26");
  equal(blockOfPath("/calico/ipam/v2/host/n/ipv4/block/10.0.0.0-26"), undefined);
});

const protocols: [deviceRouteProtocol: number, is: number][] = [
  [3, 80], // the default, also where somebody says it
  [90, 90],
  [80, 80],
  [0, 80],
  [Number.NaN, 80],
];
for (const [said, is] of protocols) {
  test(`DeviceRouteProtocol ${said}: the agent's other routes have protocol ${is}`, () =>
    equal(routeProtocol(said), is));
}
