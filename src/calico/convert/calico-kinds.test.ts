// One object of each Calico kind to what clients get, byte for byte.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { parseJson } from "../../base/lib/index.ts";
import {
  createBgpFilterProcessor,
  createBgpPeerProcessor,
  createBlockAffinityProcessor,
  createCalicoNodeStatusProcessor,
  createGlobalNetworkSetProcessor,
  createHostEndpointProcessor,
  createIpamBlockProcessor,
  createIpPoolProcessor,
  createNetworkPolicyProcessor,
  createNetworkSetProcessor,
  createStagedKubernetesNetworkPolicyProcessor,
  createTierProcessor,
  type Processor,
} from "./index.ts";

const kubernetes = { flavour: "kubernetes" } as const;
const etcd = { flavour: "etcdv3" } as const;

type Case = {
  name: string;
  processor: Processor;
  id?: { namespace: string; name: string };
  object: object;
  path: string;
  value: string | undefined;
};
const cases: Case[] = [
  {
    name: "a tier",
    processor: createTierProcessor(kubernetes),
    id: { namespace: "", name: "t1" },
    object: { spec: { order: 1e6 } },
    path: "/calico/v1/policy/tier/t1/metadata",
    value: '{"order":1000000,"defaultAction":"Deny"}',
  },
  {
    name: "a tier whose order is a whole number beyond 2^53",
    processor: createTierProcessor(kubernetes),
    object: parseJson('{"spec":{"order":12345678901234567890}}') as object, // the text is an object
    path: "/calico/v1/policy/tier/x/metadata",
    value: '{"order":12345678901234567000,"defaultAction":"Deny"}',
  },
  {
    name: "a tier without order in Kubernetes",
    processor: createTierProcessor(kubernetes),
    object: { spec: { defaultAction: "Pass" } },
    path: "/calico/v1/policy/tier/x/metadata",
    value: '{"order":1000000,"defaultAction":"Pass"}',
  },
  {
    name: "a tier without order in etcd",
    processor: createTierProcessor(etcd),
    object: { spec: { defaultAction: "pass" } },
    path: "/calico/v1/policy/tier/x/metadata",
    value: '{"defaultAction":"Deny"}',
  },
  {
    name: "a network set",
    processor: createNetworkSetProcessor(),
    id: { namespace: "shop", name: "s" },
    object: { spec: { nets: ["10.0.0.1/8", "1.1.1.1", "x"] } },
    path: "/calico/v1/netset/shop%2fs",
    value:
      '{"nets":["10.0.0.0/8","1.1.1.1/32"],"labels":{"projectcalico.org/namespace":"shop"},"profile_ids":["kns.shop"]}',
  },
  {
    name: "a global network set without labels",
    processor: createGlobalNetworkSetProcessor(),
    object: { metadata: { name: "x" }, spec: { nets: ["", "1.2.3.4"] } },
    path: "/calico/v1/netset/x",
    value: '{"nets":["1.2.3.4/32"],"labels":null}',
  },
  {
    name: "a host endpoint",
    processor: createHostEndpointProcessor(),
    object: {
      metadata: { name: "h1", annotations: { "qos.projectcalico.org/dscp": "20" } },
      spec: {
        node: "n1",
        interfaceName: "*",
        expectedIPs: ["10.0.0.1", "fd00::1", "bad"],
        ports: [{ name: "a", protocol: "TCP", port: 80 }],
      },
    },
    path: "/calico/v1/host/n1/endpoint/h1",
    value:
      '{"name":"*","expected_ipv4_addrs":["10.0.0.1"],"expected_ipv6_addrs":["fd00::1"],"labels":null,"ports":[{"name":"a","protocol":"tcp","port":80}],"qosControls":{"dscp":20}}',
  },
  {
    name: "a pool",
    processor: createIpPoolProcessor(),
    object: { spec: { cidr: "10.0.0.0/16", ipipMode: "CrossSubnet", natOutgoing: true, allowedUses: ["Workload"] } },
    path: "/calico/v1/ipam/v4/pool/10.0.0.0-16",
    value:
      '{"cidr":"10.0.0.0/16","ipip":"tunl0","ipip_mode":"cross-subnet","vxlan_mode":"","masquerade":true,"ipam":true,"disabled":false,"disableBGPExport":false,"assignment_mode":"Automatic","allowed_uses":["Workload"]}',
  },
  {
    name: "a block, its sequence number exact",
    processor: createIpamBlockProcessor(kubernetes),
    object: parseJson(
      '{"spec":{"cidr":"10.65.0.0/30","affinity":"host:n1","affinityClaimTime":"2024-03-04T05:06:07+01:00","allocations":[0,null,null,null],"unallocated":[1,2,3],"attributes":[{"handle_id":"h","secondary":{"node":"n1"}},{}],"sequenceNumber":1723456789012345678,"sequenceNumberForAllocation":{"0":1723456789012345677}}}',
    ) as object, // the text above is an object
    path: "/calico/ipam/v2/assignment/ipv4/block/10.65.0.0-30",
    value:
      '{"cidr":"10.65.0.0/30","affinity":"host:n1","affinity_claim_time":"2024-03-04T04:06:07Z","allocations":[0,null,null,null],"unallocated":[1,2,3],"attributes":[{"handle_id":"h","secondary":{"node":"n1"}},{}],"sequenceNumber":1723456789012345678,"sequenceNumberForAllocation":{"0":1723456789012345677},"deleted":false}',
  },
  {
    name: "a block of etcd",
    processor: createIpamBlockProcessor(etcd),
    id: { namespace: "", name: "ipv4/block/10.65.0.0-30" },
    object: { cidr: "10.65.0.0/30", hostAffinity: "n1", allocations: [null], unknown: 1 },
    path: "/calico/ipam/v2/assignment/ipv4/block/10.65.0.0-30",
    value:
      '{"cidr":"10.65.0.0/30","affinity":null,"allocations":[null],"unallocated":null,"attributes":null,"sequenceNumber":0,"sequenceNumberForAllocation":null,"deleted":false,"hostAffinity":"n1"}',
  },
  {
    name: "an affinity of the old group",
    processor: createBlockAffinityProcessor(kubernetes),
    object: { spec: { node: "n1", state: "confirmed", cidr: "10.0.0.0/26", deleted: "T" } },
    path: "/calico/ipam/v2/host/n1/ipv4/block/10.0.0.0-26",
    value: '{"state":"confirmed","deleted":true}',
  },
  {
    name: "an affinity of the new group, of a load balancer",
    processor: createBlockAffinityProcessor(kubernetes),
    object: { spec: { node: "lb", type: "virtual", state: "", cidr: "fd00::/122", deleted: false } },
    path: "/calico/ipam/v2/virtual/lb/ipv6/block/fd00::-122",
    value: '{"state":"","deleted":false}',
  },
  {
    name: "an affinity of etcd",
    processor: createBlockAffinityProcessor(etcd),
    id: { namespace: "", name: "n1/ipv4/block/10.0.0.0-26" },
    object: {},
    path: "/calico/ipam/v2/host/n1/ipv4/block/10.0.0.0-26",
    value: '{"state":"","deleted":false}',
  },
  {
    name: "a staged Kubernetes policy",
    processor: createStagedKubernetesNetworkPolicyProcessor(),
    id: { namespace: "shop", name: "sk" },
    object: { spec: { stagedAction: "Set", policyTypes: ["Egress"] } },
    path: "/calico/v1/policy/StagedKubernetesNetworkPolicy/shop/sk",
    value:
      '{"namespace":"shop","tier":"default","order":1000,"selector":"(projectcalico.org/orchestrator == \'k8s\') \\u0026\\u0026 projectcalico.org/namespace == \'shop\'","types":["egress"],"staged_action":"Set"}',
  },
  {
    name: "a node status request, its answer's skeleton included",
    processor: createCalicoNodeStatusProcessor(),
    object: { metadata: { name: "x" }, spec: { node: "n", classes: ["BGP"], updatePeriodSeconds: 0 } },
    path: "/calico/resources/v3/projectcalico.org/caliconodestatuses/x",
    value:
      '{"kind":"CalicoNodeStatus","apiVersion":"projectcalico.org/v3","metadata":{"name":"x"},"spec":{"node":"n","classes":["BGP"],"updatePeriodSeconds":0},"status":{"lastUpdated":null,"agent":{"birdV4":{},"birdV6":{}},"bgp":{"numberEstablishedV4":0,"numberNotEstablishedV4":0,"numberEstablishedV6":0,"numberNotEstablishedV6":0},"routes":{}}}',
  },
  {
    name: "a BGP peer: AS number as text, a duration, an unknown field",
    processor: createBgpPeerProcessor(),
    object: {
      metadata: { name: "x", generation: 2 },
      spec: {
        peerIP: "[fd00::1]:179",
        asNumber: "1.10",
        maxRestartTime: "90s",
        keepOriginalNextHop: false,
        surprise: 1,
      },
    },
    path: "/calico/resources/v3/projectcalico.org/bgppeers/x",
    value:
      '{"kind":"BGPPeer","apiVersion":"projectcalico.org/v3","metadata":{"name":"x","generation":2},"spec":{"peerIP":"[fd00::1]:179","asNumber":65546,"maxRestartTime":"1m30s"}}',
  },
  {
    name: "a BGP filter",
    processor: createBgpFilterProcessor(),
    object: {
      metadata: { name: "x" },
      spec: { exportV4: [{ action: "Accept", cidr: "10.0.0.0/8", matchOperator: "In" }] },
    },
    path: "/calico/resources/v3/projectcalico.org/bgpfilters/x",
    value:
      '{"kind":"BGPFilter","apiVersion":"projectcalico.org/v3","metadata":{"name":"x"},"spec":{"exportV4":[{"cidr":"10.0.0.0/8","matchOperator":"In","action":"Accept"}]}}',
  },
];
for (const { name, processor, id = { namespace: "", name: "x" }, object, path, value } of cases) {
  test(`${name}, byte for byte`, () => {
    const { kvs } = processor.set(id, "7", object);
    deepEqual(
      kvs.map((kv) => [kv.path, kv.value, kv.revision]),
      [[path, value, value === undefined ? "" : "7"]],
    );
    deepEqual(
      processor.delete(id).kvs.map((kv) => [kv.path, kv.value, kv.revision]),
      [[path, undefined, ""]],
    );
  });
}

const refused: { name: string; processor: Processor; object: object; field: string; isInvalid: boolean }[] = [
  {
    name: "a host endpoint without a node has no key",
    processor: createHostEndpointProcessor(),
    object: { metadata: { name: "x" }, spec: { interfaceName: "eth0" } },
    field: "spec.node",
    isInvalid: false,
  },
  ...(
    [
      ["interfaceName", { interfaceName: "a b" }],
      ["interfaceName", { interfaceName: "sixteen-letters-" }],
      ["profiles[0]", { profiles: ["a/b"] }],
      ["ports[0].name", { ports: [{ name: "", protocol: "TCP", port: 1 }] }],
      ["ports[0].port", { ports: [{ name: "a", protocol: "TCP", port: 0 }] }],
      ["ports[0].protocol", { ports: [{ name: "a", protocol: 6, port: 1 }] }],
      ["ports[0].protocol", { ports: [{ name: "a", protocol: "ICMP", port: 1 }] }],
    ] as const
  ).map(([field, spec]) => ({
    name: `a host endpoint with ${JSON.stringify(spec)}`,
    processor: createHostEndpointProcessor(),
    object: { metadata: { name: "x" }, spec: { node: "n", ...spec } },
    field: `spec.${field}`,
    isInvalid: true,
  })),
  {
    name: "an affinity whose deletion is neither true nor false",
    processor: createBlockAffinityProcessor(kubernetes),
    object: { spec: { node: "n", cidr: "10.0.0.0/26", deleted: "yes" } },
    field: "spec.deleted",
    isInvalid: false,
  },
  {
    name: "a node status that cannot be read, whatever else is wrong",
    processor: createCalicoNodeStatusProcessor(),
    object: { metadata: { name: "x" }, spec: {}, status: { bgp: { numberEstablishedV4: 1.5 } } },
    field: "status.bgp.numberEstablishedV4",
    isInvalid: false,
  },
  {
    name: "a block with a bare address",
    processor: createIpamBlockProcessor(kubernetes),
    object: { spec: { cidr: "10.0.0.0" } },
    field: "spec.cidr",
    isInvalid: false,
  },
  {
    name: "a policy in etcd whose kept name cannot be read",
    processor: createNetworkPolicyProcessor(etcd),
    object: { metadata: { annotations: { "projectcalico.org/metadata": '{"name":1}' } } },
    field: 'metadata.annotations["projectcalico.org/metadata"]',
    isInvalid: false,
  },
  {
    name: "a policy with a protocol that is no byte",
    processor: createNetworkPolicyProcessor(),
    object: { spec: { ingress: [{ action: "Allow", protocol: 256 }] } },
    field: "spec.ingress[0].protocol",
    isInvalid: false,
  },
  {
    name: "a policy with a port above 65535",
    processor: createNetworkPolicyProcessor(),
    object: { spec: { ingress: [{ action: "Allow", destination: { ports: [70000] } }] } },
    field: "spec.ingress[0].destination.ports[0]",
    isInvalid: false,
  },
  {
    name: "a policy with a range that goes down",
    processor: createNetworkPolicyProcessor(),
    object: { spec: { ingress: [{ action: "Allow", destination: { ports: ["200:100"] } }] } },
    field: "spec.ingress[0].destination.ports[0]",
    isInvalid: false,
  },
  {
    name: "a staged Kubernetes policy with a named port range",
    processor: createStagedKubernetesNetworkPolicyProcessor(),
    object: { spec: { ingress: [{ ports: [{ port: "http", endPort: 90 }] }] } },
    field: "spec.ingress[0].ports[0]",
    isInvalid: false,
  },
];
for (const { name, processor, object, field, isInvalid } of refused) {
  test(`refused: ${name}`, () => {
    const { kvs, problems } = processor.set({ namespace: "shop", name: "x" }, "7", object);
    equal(problems[0]?.field, field);
    equal(problems[0]?.effect, "deleted");
    equal(
      kvs.every(({ value }) => value === undefined),
      true,
    );
    equal(
      kvs.some((kv) => kv.isInvalid === true && kv.revision === "7"),
      isInvalid,
    );
  });
}

test("deleted affinities are hidden from a list and shown by a watch", () => {
  const affinities = createBlockAffinityProcessor(kubernetes);
  const object = { spec: { node: "n", cidr: "10.0.0.0/26", deleted: "true" } };
  const id = { namespace: "", name: "x" };
  equal(affinities.set(id, "1", object, "list").kvs.length, 0);
  equal(affinities.set(id, "1", object, "watch").kvs[0]?.value, '{"state":"","deleted":true}');
});
