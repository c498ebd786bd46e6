import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { createNodeProcessor } from "./kubernetes-node.ts";
import { createEtcdNodeProcessor } from "./node-processor.ts";

const id = { namespace: "", name: "n1" };
type Parts = { annotations?: object; labels?: object; spec?: object; status?: object };

function convert({ annotations = {}, labels, spec = {}, status = {} }: Parts, usePodCidr = false) {
  const prefixed = Object.fromEntries(
    Object.entries(annotations).map(([name, value]) => [`projectcalico.org/${name}`, value]),
  );
  const metadata = { name: "n1", annotations: prefixed, ...(labels === undefined ? {} : { labels }) };
  const { kvs, problems } = createNodeProcessor({ usePodCidr }).set(id, "5", { metadata, spec, status });
  const node = kvs.find(({ path }) => path.startsWith("/calico/resources/"));
  const parsed = node?.value === undefined ? undefined : JSON.parse(node.value);
  const settings = Object.fromEntries(
    kvs.flatMap(({ path, value }) =>
      path.includes("/config/") && value !== undefined ? [[path.split("/").at(-1), value]] : [],
    ),
  );
  return { kvs, node, parsed, settings, problems };
}

test("a node with nothing of Calico's, byte for byte", () => {
  equal(
    convert({}).node?.value,
    '{"kind":"Node","apiVersion":"projectcalico.org/v3","metadata":{"name":"n1","annotations":{"projectcalico.org/kube-labels":"null"}},"spec":{"orchRefs":[{"nodeName":"n1","orchestrator":"k8s"}]},"status":{}}',
  );
});

test("Kubernetes' labels win over Calico's, and are kept apart as sorted JSON", () => {
  const { parsed } = convert({
    labels: { b: "1", a: "k" },
    annotations: { labels: '{"a":"c","d":"e"}', annotations: '{"x":"y"}' },
  });
  deepEqual(parsed.metadata.labels, { a: "k", b: "1", d: "e" });
  deepEqual(parsed.metadata.annotations, { x: "y", "projectcalico.org/kube-labels": '{"a":"k","b":"1"}' });
});

const specs: { name: string; parts: Parts; spec: object; problems: number }[] = [
  {
    name: "a bare BGP address is kept as it is written",
    parts: { annotations: { IPv4Address: "192.168.0.1" } },
    spec: { bgp: { ipv4Address: "192.168.0.1" }, addresses: [{ address: "192.168.0.1", type: "CalicoNodeIP" }] },
    problems: 0,
  },
  {
    name: "an address of the other family is dropped",
    parts: { annotations: { IPv4Address: "fd00::1/64" } },
    spec: {},
    problems: 1,
  },
  {
    name: "AS numbers may be dotted, and 0",
    parts: { annotations: { ASNumber: "1.10" } },
    spec: { bgp: { asNumber: 65546 } },
    problems: 0,
  },
  {
    name: "AS number 0 is written",
    parts: { annotations: { ASNumber: "0" } },
    spec: { bgp: { asNumber: 0 } },
    problems: 0,
  },
  {
    name: "an AS number that is none is dropped",
    parts: { annotations: { ASNumber: "4294967296" } },
    spec: {},
    problems: 1,
  },
  {
    name: "a tunnel address with host bits is dropped",
    parts: { annotations: { IPv4IPIPTunnelAddr: "10.0.0.1/24" } },
    spec: {},
    problems: 1,
  },
  {
    name: "a MAC is kept as it is written",
    parts: { annotations: { VXLANTunnelMACAddr: "66:3E:CA:44:55:66" } },
    spec: { vxlanTunnelMACAddr: "66:3E:CA:44:55:66" },
    problems: 0,
  },
  {
    name: "only internal and external addresses are taken",
    parts: {
      status: {
        addresses: [
          { type: "Hostname", address: "n1" },
          { type: "ExternalIP", address: "1.2.3.4" },
          { type: "InternalIP", address: "10.0.0.1" },
        ],
      },
    },
    spec: {
      addresses: [
        { address: "1.2.3.4", type: "ExternalIP" },
        { address: "10.0.0.1", type: "InternalIP" },
      ],
    },
    problems: 0,
  },
  {
    name: "interface addresses that are none are left out, however many",
    parts: { annotations: { Interfaces: '[{"name":"eth0","addresses":["x","y","10.0.0.1"]}]' } },
    spec: { interfaces: [{ name: "eth0", addresses: ["10.0.0.1"] }] },
    problems: 0,
  },
  {
    name: "interfaces that are null are none",
    parts: { annotations: { Interfaces: "null" } },
    spec: {},
    problems: 0,
  },
  {
    name: "interfaces that are no JSON are dropped",
    parts: { annotations: { Interfaces: "{not" } },
    spec: {},
    problems: 1,
  },
];
for (const { name, parts, spec, problems } of specs) {
  test(`node: ${name}`, () => {
    const { orchRefs: _, ...rest } = convert(parts).parsed.spec;
    deepEqual(rest, spec);
    equal(convert(parts).problems.length, problems);
  });
}

test("node: a line break in a WireGuard key does no harm", () => {
  const { node, problems } = convert({
    annotations: { WireguardPublicKey: "jlkVyQYooZYzI2wFfNhSZez5eWh44yfq1wKVjLvSXgY=\n" },
  });
  equal(node?.isInvalid, undefined);
  deepEqual(problems, []);
});

const refused: { name: string; annotations: object; field: string }[] = [
  {
    name: "a WireGuard key that is none",
    annotations: { WireguardPublicKey: "short" },
    field: "status.wireguardPublicKey",
  },
  {
    name: "a tunnel address with a length",
    annotations: { IPv4IPIPTunnelAddr: "10.65.100.1/32" },
    field: "spec.bgp.ipv4IPIPTunnelAddr",
  },
  {
    name: "a masked network as cluster id",
    annotations: { RouteReflectorClusterID: "10.0.0.0/8" },
    field: "spec.bgp.routeReflectorClusterID",
  },
];
for (const { name, annotations, field } of refused) {
  test(`node: ${name} makes the node invalid, and nothing else`, () => {
    const { node, problems, kvs } = convert({ annotations });
    equal(node?.isInvalid, true);
    deepEqual(
      problems.map((problem) => problem.field),
      [field],
    );
    equal(
      kvs.some(({ isInvalid, path }) => isInvalid === true && !path.includes("/nodes/")),
      false,
    );
  });
}

test("a bad WireGuard key still goes out under its own key", () => {
  const { kvs } = convert({ annotations: { WireguardPublicKey: "notakey", IPv4WireguardInterfaceAddr: "10.65.0.3" } });
  equal(kvs.at(-1)?.value, '{"interfaceIPv4Addr":"10.65.0.3","publicKey":"notakey"}');
});

test("Felix gets five settings, the node and WireGuard, in this order", () => {
  const { kvs, settings } = convert({
    annotations: { IPv4VXLANTunnelAddr: "10.0.0.1", IPv6VXLANTunnelAddr: "fd00:0::1" },
  });
  deepEqual(
    kvs.map(({ path }) => path.replace(/.*\/n1\/?/, "")),
    [
      "config/IpInIpTunnelAddr",
      "config/IPv4VXLANTunnelAddr",
      "config/VXLANTunnelMACAddr",
      "config/IPv6VXLANTunnelAddr",
      "config/VXLANTunnelMACAddrV6",
      "",
      "wireguard",
    ],
  );
  deepEqual(settings, { IPv4VXLANTunnelAddr: "10.0.0.1", IPv6VXLANTunnelAddr: "fd00::1" });
});

const podCidrs: { podCIDR: string; address: string | undefined }[] = [
  { podCIDR: "10.244.1.0/24", address: "10.244.1.1" },
  { podCIDR: "10.0.0.255/24", address: "10.0.0.0" },
  { podCIDR: "fd00::/64", address: undefined },
];
for (const { podCIDR, address } of podCidrs) {
  test(`USE_POD_CIDR: the tunnel address of ${podCIDR} is ${address}`, () => {
    const parts = { spec: { podCIDR, podCIDRs: [podCIDR] }, annotations: { IPv4IPIPTunnelAddr: "1.1.1.1" } };
    equal(convert(parts, true).settings.IpInIpTunnelAddr, address);
    equal(convert(parts, true).kvs.at(-1)?.path.includes("/block/"), true);
    equal(convert(parts, false).settings.IpInIpTunnelAddr, "1.1.1.1");
  });
}

test("USE_POD_CIDR: a CIDR that two nodes claim outlives either", () => {
  const processor = createNodeProcessor({ usePodCidr: true });
  const node = (name: string) => ({ metadata: { name }, spec: { podCIDRs: ["10.1.0.0/24"] } });
  const blocksOf = ({ kvs }: ReturnType<typeof processor.set>) =>
    kvs.flatMap(({ path, value }) =>
      path.includes("/block/") ? [value === undefined ? "-" : JSON.parse(value).affinity] : [],
    );
  deepEqual(blocksOf(processor.set({ namespace: "", name: "b" }, "1", node("b"))), ["host:b"]);
  deepEqual(blocksOf(processor.set({ namespace: "", name: "a" }, "2", node("a"))), ["host:b"]);
  deepEqual(blocksOf(processor.delete({ namespace: "", name: "b" })), ["host:a"]);
  deepEqual(blocksOf(processor.delete({ namespace: "", name: "a" })), ["-"]);
});

test("a bad pod CIDR is the node's own problem", () => {
  const { problems, kvs } = convert({ spec: { podCIDR: "junk" } }, true);
  deepEqual(
    problems.map(({ field, effect }) => [field, effect]),
    [["spec.podCIDR", "deleted"]],
  );
  equal(
    kvs.every(({ value }) => value === undefined),
    true,
  );
});

test("etcd's nodes are Calico's already: an empty bgp is invalid", () => {
  const processor = createEtcdNodeProcessor();
  const node = (spec: object) => ({ kind: "Node", apiVersion: "projectcalico.org/v3", metadata: { name: "n1" }, spec });
  const good = processor.set(id, "1", node({ ipv4VXLANTunnelAddr: "10.0.0.1" })).kvs[5];
  equal(
    good?.value,
    '{"kind":"Node","apiVersion":"projectcalico.org/v3","metadata":{"name":"n1"},"spec":{"ipv4VXLANTunnelAddr":"10.0.0.1"},"status":{}}',
  );
  equal(processor.set(id, "2", node({ bgp: {} })).kvs[5]?.isInvalid, true);
});
