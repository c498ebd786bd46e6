import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { createPodProcessor } from "./pod.ts";

const id = { namespace: "shop", name: "web-0" };
const path = "/calico/v1/host/node-a/workload/k8s/shop%2fweb-0/endpoint/eth0";
type Parts = { metadata?: object; spec?: object; status?: object };

function podOf({ metadata = {}, spec = {}, status = { podIP: "10.0.0.9" } }: Parts = {}): object {
  return { metadata: { ...id, ...metadata }, spec: { nodeName: "node-a", ...spec }, status };
}

function endpointOf(parts: Parts): { [name: string]: unknown } | undefined {
  const [kv] = createPodProcessor().set(id, "7", podOf(parts)).kvs;
  return kv?.value === undefined ? undefined : JSON.parse(kv.value);
}

test("a pod with everything, as the real Typha writes it", () => {
  const pod = podOf({
    metadata: {
      generateName: "web-",
      labels: { app: "web" },
      annotations: {
        "cni.projectcalico.org/floatingIPs": '["192.0.2.7","2001:db8::7"]',
        "cni.projectcalico.org/allowedSourcePrefixes": '["8.8.8.8/24"]',
        "k8s.v1.cni.cncf.io/network-status": "[]",
        "kubernetes.io/ingress-bandwidth": "10M",
        "qos.projectcalico.org/dscp": "af11",
      },
    },
    spec: { serviceAccountName: "cart", containers: [{ ports: [{ name: "http", containerPort: 8080 }] }] },
    status: { podIPs: [{ ip: "10.0.0.9" }, { ip: "fd00::9" }] },
  });
  deepEqual(createPodProcessor().set(id, "7", pod), {
    kvs: [
      {
        path,
        value:
          '{"state":"active","name":"calia4fc3c48bd8","active_instance_id":"","mac":null,"profile_ids":["kns.shop","ksa.shop.cart"],"ipv4_nets":["10.0.0.9/32"],"ipv6_nets":["fd00::9/128"],"ipv4_nat":[{"int_ip":"10.0.0.9","ext_ip":"192.0.2.7"}],"ipv6_nat":[{"int_ip":"fd00::9","ext_ip":"2001:db8::7"}],"labels":{"app":"web","projectcalico.org/namespace":"shop","projectcalico.org/orchestrator":"k8s","projectcalico.org/serviceaccount":"cart"},"ports":[{"name":"http","protocol":"tcp","port":8080}],"generate_name":"web-","allow_spoofed_source_ips":["8.8.8.0/24"],"annotations":{"k8s.v1.cni.cncf.io/network-status":"[]"},"qosControls":{"ingressBandwidth":10000000,"ingressBurst":4294967296,"dscp":"AF11"}}',
        revision: "7",
        v3ResourceVersion: "",
      },
    ],
    problems: [],
  });
});

const annotated = (annotations: object, rest: object = {}) => ({ metadata: { annotations, ...rest }, status: {} });
const deleting = { deletionTimestamp: "2026-01-02T03:04:05Z" };
const addresses: { name: string; parts: Parts; nets: unknown[] | undefined }[] = [
  {
    name: "status.podIPs wins",
    parts: { status: { podIPs: [{ ip: "10.0.0.1" }], podIP: "10.0.0.2" } },
    nets: ["10.0.0.1/32"],
  },
  { name: "then status.podIP", parts: { status: { podIPs: [], podIP: "10.0.0.2" } }, nets: ["10.0.0.2/32"] },
  {
    name: "then the podIPs annotation",
    parts: annotated({
      "cni.projectcalico.org/podIPs": "10.0.0.3/32,10.0.0.4",
      "cni.projectcalico.org/podIP": "10.9.9.9",
    }),
    nets: ["10.0.0.3/32", "10.0.0.4/32"],
  },
  {
    name: "then the podIP annotation, masked",
    parts: annotated({ "cni.projectcalico.org/podIPs": "", "cni.projectcalico.org/podIP": "10.65.3.9/24" }),
    nets: ["10.65.3.0/24"],
  },
  { name: "then AWS's", parts: annotated({ "vpc.amazonaws.com/pod-ips": "10.0.0.5" }), nets: ["10.0.0.5/32"] },
  { name: "no address, no endpoint", parts: { status: {} }, nets: undefined },
  { name: "the host's network, no endpoint", parts: { spec: { hostNetwork: true } }, nets: undefined },
  { name: "no node, no endpoint", parts: { spec: { nodeName: "" } }, nets: undefined },
  { name: "finished, no endpoint", parts: { status: { podIP: "10.0.0.1", phase: "Succeeded" } }, nets: undefined },
  {
    name: "unknown phase, still there",
    parts: { status: { podIP: "10.0.0.1", phase: "Unknown" } },
    nets: ["10.0.0.1/32"],
  },
  { name: "terminating with its address, still there", parts: { metadata: deleting }, nets: ["10.0.0.9/32"] },
  {
    name: "terminating, address given back",
    parts: { metadata: { ...deleting, annotations: { "cni.projectcalico.org/podIP": "" } } },
    nets: undefined,
  },
  {
    name: "terminating, AWS's address given back",
    parts: { metadata: { ...deleting, annotations: { "vpc.amazonaws.com/pod-ips": "" } } },
    nets: undefined,
  },
  {
    name: "an emptied annotation means nothing while the pod lives",
    parts: { metadata: { annotations: { "cni.projectcalico.org/podIP": "" } } },
    nets: ["10.0.0.9/32"],
  },
];
for (const { name, parts, nets } of addresses) {
  test(`pod addresses: ${name}`, () => deepEqual(endpointOf(parts)?.ipv4_nets, nets));
}

const broken: { name: string; parts: Parts; field: string }[] = [
  { name: "an address that is none", parts: { status: { podIP: "x" } }, field: "status.podIP" },
  {
    name: "an address with a blank",
    parts: annotated({ "cni.projectcalico.org/podIPs": "10.0.0.1, 10.0.0.2" }),
    field: 'metadata.annotations["cni.projectcalico.org/podIPs"]',
  },
  {
    name: "an empty piece",
    parts: annotated({ "cni.projectcalico.org/podIPs": "10.0.0.1/32," }),
    field: 'metadata.annotations["cni.projectcalico.org/podIPs"]',
  },
  {
    name: "floating IPs that are no JSON",
    parts: { metadata: { annotations: { "cni.projectcalico.org/floatingIPs": "x" } } },
    field: 'metadata.annotations["cni.projectcalico.org/floatingIPs"]',
  },
  {
    name: "a floating IP to a whole network",
    parts: {
      ...annotated({ "cni.projectcalico.org/floatingIPs": "[]", "cni.projectcalico.org/podIP": "10.0.0.0/24" }),
    },
    field: 'metadata.annotations["cni.projectcalico.org/floatingIPs"]',
  },
  {
    name: "a bare address as a source prefix",
    parts: { metadata: { annotations: { "cni.projectcalico.org/allowedSourcePrefixes": '["8.8.8.8"]' } } },
    field: 'metadata.annotations["cni.projectcalico.org/allowedSourcePrefixes"]',
  },
  { name: "a node name that ends in a dash", parts: { spec: { nodeName: "node-" } }, field: "spec.nodeName" },
  { name: "labels that are a list", parts: { metadata: { labels: ["a"] } }, field: "metadata.labels" },
  { name: "a label that is a number", parts: { metadata: { labels: { a: 1 } } }, field: 'metadata.labels["a"]' },
  {
    name: "a port that is a text",
    parts: { spec: { containers: [{ ports: [{ containerPort: "80" }] }] } },
    field: "spec.containers[].ports[].containerPort",
  },
  { name: "a phase that is a number", parts: { status: { phase: 1 } }, field: "status.phase" },
];
for (const { name, parts, field } of broken) {
  test(`a broken pod: ${name}`, () => {
    const { kvs, problems } = createPodProcessor().set(id, "7", podOf(parts));
    deepEqual(kvs, []);
    deepEqual(
      problems.map((problem) => [problem.object, problem.field, problem.effect]),
      [["Pod/shop/web-0", field, "deleted"]],
    );
  });
}

const accounts: { name: string; account?: string; profiles: string[] }[] = [
  { name: "none: no profile and no label of one", profiles: ["kns.shop"] },
  { name: "default is an account like any other", account: "default", profiles: ["kns.shop", "ksa.shop.default"] },
  {
    name: "one too long for a label is a label all the same",
    account: "a".repeat(64),
    profiles: ["kns.shop", `ksa.shop.${"a".repeat(64)}`],
  },
];
for (const { name, account, profiles } of accounts) {
  test(`service account: ${name}`, () => {
    const { profile_ids, labels } = endpointOf({ spec: { serviceAccountName: account } }) ?? {};
    deepEqual(profile_ids, profiles);
    equal(Object(labels)["projectcalico.org/serviceaccount"], account);
  });
}

test("labels: imitations go, Calico's are set, __proto__ is a label like any other", () => {
  const labels = JSON.parse(
    '{"pcns.a":"1","pcsa.b":"2","projectcalico.org/namespace":"forged","__proto__":"x","z":"<"}',
  );
  const value = createPodProcessor().set(id, "7", podOf({ metadata: { labels } })).kvs[0]?.value;
  const own = '"projectcalico.org/namespace":"shop","projectcalico.org/orchestrator":"k8s"';
  equal(value?.includes(`"labels":{"__proto__":"x",${own},"z":"\\u003c"}`), true, value ?? "no value");
});

test("a port that validation refuses takes the value, not the revision", () => {
  const zero = { name: "zero", containerPort: 65536 };
  const spec = { containers: [{}], initContainers: [null, { ports: [{ containerPort: 1 }, zero] }] };
  const { kvs, problems } = createPodProcessor().set(id, "7", podOf({ spec }));
  deepEqual(kvs, [{ path, value: undefined, revision: "7", v3ResourceVersion: "", isInvalid: true }]);
  equal(problems[0]?.field, "spec.initContainers[1].ports[1].containerPort");
});

test("a pod that comes back on another node takes its endpoint along; gone, it leaves nothing", () => {
  const processor = createPodProcessor({ interfacePrefix: "tap,cali" });
  processor.set(id, "1", podOf());
  const moved = processor.set(id, "2", podOf({ spec: { nodeName: "node-b" } })).kvs;
  deepEqual(
    moved.map((kv) => [kv.path.split("/")[4], kv.value === undefined]),
    [
      ["node-a", true],
      ["node-b", false],
    ],
  );
  equal(moved[1]?.value?.includes('"name":"tapa4fc3c48bd8"'), true);
  deepEqual(
    processor.delete(id).kvs.map((kv) => kv.path.split("/")[4]),
    ["node-b"],
  );
  deepEqual(processor.delete(id).kvs, []);
});

const qos: { name: string; annotations: { [name: string]: string }; controls: object | undefined }[] = [
  {
    name: "a bandwidth below the least",
    annotations: { ingressBandwidth: "1" },
    controls: { ingressBandwidth: 1000, ingressBurst: 4294967296 },
  },
  {
    name: "what cannot be read still overrides Kubernetes' own",
    annotations: { "kubernetes.io/ingress-bandwidth": "1M", ingressBandwidth: "junk" },
    controls: undefined,
  },
  { name: "a burst without a bandwidth is nothing", annotations: { egressBurst: "20M" }, controls: undefined },
  {
    name: "a peak rate must exceed the bandwidth, and a minburst needs it",
    annotations: { egressBandwidth: "20M", egressPeakrate: "20M", egressMinburst: "2k" },
    controls: { egressBandwidth: 20000000, egressBurst: 4294967296 },
  },
  {
    name: "a packet rate has a burst",
    annotations: { ingressPacketRate: "100k" },
    controls: { ingressPacketRate: 10000, ingressPacketBurst: 5 },
  },
  { name: "a DSCP name keeps its blanks", annotations: { dscp: " af11 " }, controls: { dscp: " af11 " } },
  { name: "a DSCP number", annotations: { dscp: "46" }, controls: { dscp: 46 } },
  { name: "a DSCP beyond 63", annotations: { dscp: "64" }, controls: undefined },
];
for (const { name, annotations, controls } of qos) {
  test(`pod QoS: ${name}`, () => {
    const named = Object.entries(annotations).map(
      ([key, value]) => [key.includes("/") ? key : `qos.projectcalico.org/${key}`, value] as const,
    );
    deepEqual(endpointOf({ metadata: { annotations: Object.fromEntries(named) } })?.qosControls, controls);
  });
}
