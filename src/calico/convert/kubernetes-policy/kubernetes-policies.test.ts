import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { ProcessorOutput } from "../processor/processor.ts";
import { createClusterNetworkPolicyProcessor } from "./cluster-network-policy.ts";
import { createKubernetesNetworkPolicyProcessor } from "./kubernetes-policies.ts";
import { namespaceSelectorText, podSelectorText } from "./kubernetes-selector.ts";

const sentValue = ({ kvs }: ProcessorOutput) => (kvs[0]?.value === undefined ? undefined : JSON.parse(kvs[0].value));
const fieldsOf = ({ problems }: ProcessorOutput) => problems.map(({ field, effect }) => `${field} ${effect}`);

const networkPolicy = (spec: object) =>
  createKubernetesNetworkPolicyProcessor().set({ namespace: "shop", name: "p" }, "1", {
    metadata: { name: "p" },
    spec,
  });
const clusterPolicy = (spec: object) =>
  createClusterNetworkPolicyProcessor().set({ namespace: "", name: "adm" }, "1", { metadata: { name: "adm" }, spec });

test("a Kubernetes policy without a spec, byte for byte", () => {
  const [kv] = networkPolicy({}).kvs;
  equal(kv?.path, "/calico/v1/policy/KubernetesNetworkPolicy/shop/p");
  equal(
    kv?.value,
    '{"namespace":"shop","tier":"default","order":1000,"selector":"(projectcalico.org/orchestrator == \'k8s\') \\u0026\\u0026 projectcalico.org/namespace == \'shop\'","types":["ingress"]}',
  );
});

const types: { policyTypes?: string[]; egress?: object[]; types: string[] }[] = [
  { types: ["ingress"] },
  { egress: [{}], types: ["ingress"] },
  { policyTypes: ["Egress"], types: ["egress"] },
  { policyTypes: ["Egress", "Ingress"], types: ["ingress", "egress"] },
];
for (const { types: expected, ...spec } of types) {
  test(`policy types of ${JSON.stringify(spec)}`, () => deepEqual(sentValue(networkPolicy(spec)).types, expected));
}

const rules: { name: string; ingress: object[]; rules: object[] | undefined; problems: string[] }[] = [
  {
    name: "an entry without a port is all of its protocol",
    ingress: [{ ports: [{ port: 80 }, {}] }],
    rules: [{ action: "allow", protocol: "tcp" }],
    problems: [],
  },
  {
    name: "peers and protocols multiply, protocols first",
    ingress: [
      {
        ports: [{ protocol: "UDP", port: 53 }, { port: "http" }],
        from: [{ ipBlock: { cidr: "10.0.0.1/8" } }, { ipBlock: { cidr: "fd00::/64", except: ["fd00::1/128"] } }],
      },
    ],
    rules: [
      { action: "allow", protocol: "tcp", src_nets: ["10.0.0.0/8"], dst_ports: ["http"] },
      { action: "allow", protocol: "tcp", src_nets: ["fd00::/64"], dst_ports: ["http"], "!src_nets": ["fd00::1/128"] },
      { action: "allow", protocol: "udp", src_nets: ["10.0.0.0/8"], dst_ports: [53] },
      { action: "allow", protocol: "udp", src_nets: ["fd00::/64"], dst_ports: [53], "!src_nets": ["fd00::1/128"] },
    ],
    problems: [],
  },
  {
    name: "a port beyond 65535 costs its rule, and no other",
    ingress: [{ ports: [{ port: 70000 }] }, {}],
    rules: [{ action: "allow" }],
    problems: ["spec.ingress[0].ports[0] dropped"],
  },
  {
    name: "a named port has no end",
    ingress: [{ ports: [{ port: "http", endPort: 90 }] }],
    rules: undefined,
    problems: ["spec.ingress[0].ports[0] dropped"],
  },
  {
    name: "a range that descends",
    ingress: [{ ports: [{ port: 90, endPort: 80 }] }],
    rules: undefined,
    problems: ["spec.ingress[0].ports[0] dropped"],
  },
  {
    name: "a bad block allows anybody, as in the original, and says so",
    ingress: [{ from: [{ ipBlock: { cidr: "junk" } }] }],
    rules: [{ action: "allow" }],
    problems: ["spec.ingress[0].from[0].ipBlock.cidr sent-as-original"],
  },
  {
    name: "a bad except ends the list of excepts",
    ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16", "x", "10.2.0.0/16"] } }] }],
    rules: [{ action: "allow", src_nets: ["10.0.0.0/8"], "!src_nets": ["10.1.0.0/16"] }],
    problems: ["spec.ingress[0].from[0].ipBlock.except[1] sent-as-original"],
  },
];
for (const { name, ingress, rules: expected, problems } of rules) {
  test(`Kubernetes policy: ${name}`, () => {
    const output = networkPolicy({ ingress });
    deepEqual(sentValue(output).inbound_rules, expected);
    deepEqual(fieldsOf(output), problems);
  });
}

test("egress rules have their peer and ports on the same side", () => {
  const { outbound_rules } = sentValue(
    networkPolicy({ egress: [{ ports: [{ port: 1 }], to: [{ namespaceSelector: {} }] }] }),
  );
  deepEqual(outbound_rules, [
    {
      action: "allow",
      protocol: "tcp",
      dst_selector: "(has(projectcalico.org/namespace)) && (projectcalico.org/orchestrator == 'k8s')",
      dst_ports: [1],
      orig_dst_selector: "projectcalico.org/orchestrator == 'k8s'",
      orig_dst_namespace_selector: "all()",
    },
  ]);
});

test("port 0 makes the policy invalid", () => {
  const { kvs } = networkPolicy({ ingress: [{ ports: [{ port: 0 }] }] });
  deepEqual([kvs[0]?.value, kvs[0]?.isInvalid, kvs[0]?.revision], [undefined, true, "1"]);
});

const selector = {
  matchLabels: { b: "2", a: "1" },
  matchExpressions: [
    { key: "c", operator: "In", values: ["z", "y"] },
    { key: "d", operator: "NotIn", values: ["x"] },
    { key: "e", operator: "Exists" },
    { key: "f", operator: "DoesNotExist" },
    { key: "g", operator: "Gt", values: ["1"] },
  ],
};
const terms = "a == '1' && b == '2' && c in { 'z', 'y' } && d not in { 'x' } && has(e) && ! has(f)";
const selectors: { name: string; text: string; expected: string }[] = [
  {
    name: "pods of a selector",
    text: podSelectorText(selector),
    expected: `projectcalico.org/orchestrator == 'k8s' && ${terms}`,
  },
  {
    name: "pods of no selector",
    text: podSelectorText(undefined),
    expected: "projectcalico.org/orchestrator == 'k8s'",
  },
  { name: "namespaces of a selector", text: namespaceSelectorText(selector), expected: terms },
  { name: "namespaces of an empty one", text: namespaceSelectorText({}), expected: "all()" },
  { name: "namespaces of none", text: namespaceSelectorText(undefined), expected: "" },
];
for (const { name, text, expected } of selectors) test(`selector text: ${name}`, () => equal(text, expected));

const subject = { namespaces: {} };
const networks = [{ networks: ["10.1.1.1/8"] }];
const clusterRules: { name: string; spec: object; egress: object[] | undefined; problems: string[] }[] = [
  {
    name: "networks are masked",
    spec: { egress: [{ action: "Deny", to: networks }] },
    egress: [{ action: "deny", dst_nets: ["10.0.0.0/8"] }],
    problems: [],
  },
  {
    name: "one peer that is not supported makes all of a Deny rule a denial",
    spec: { egress: [{ action: "Deny", to: [...networks, { nodes: {} }] }] },
    egress: [{ action: "deny" }],
    problems: ["spec.egress[0].to[1] dropped"],
  },
  {
    name: "and drops an Accept rule",
    spec: { egress: [{ action: "Accept", to: [{ domainNames: ["x.org"] }] }] },
    egress: undefined,
    problems: ["spec.egress[0].to[0] dropped"],
  },
  {
    name: "a bad network fails closed",
    spec: { egress: [{ action: "Pass", to: [{ networks: ["10.0.0.1"] }] }] },
    egress: [{ action: "deny" }],
    problems: ["spec.egress[0].to[0].networks[0] dropped"],
  },
  {
    name: "an unknown action is dropped",
    spec: { egress: [{ action: "Log", to: networks }] },
    egress: undefined,
    problems: ["spec.egress[0].action dropped"],
  },
  {
    name: "an empty protocol entry is everything",
    spec: {
      egress: [{ action: "Accept", to: networks, protocols: [{ tcp: { destinationPort: { number: 1 } } }, {}] }],
    },
    egress: [{ action: "allow", dst_nets: ["10.0.0.0/8"] }],
    problems: [],
  },
  {
    name: "a protocol without ports is all of it",
    spec: { egress: [{ action: "Accept", to: networks, protocols: [{ udp: {} }] }] },
    egress: [{ action: "allow", protocol: "udp", dst_nets: ["10.0.0.0/8"] }],
    problems: [],
  },
  {
    name: "a range that descends fails closed",
    spec: {
      egress: [
        { action: "Deny", to: networks, protocols: [{ tcp: { destinationPort: { range: { start: 9, end: 8 } } } }] },
      ],
    },
    egress: [{ action: "deny" }],
    problems: ["spec.egress[0].protocols[0].tcp.destinationPort.range dropped"],
  },
  {
    name: "a rule without peers says nothing",
    spec: { egress: [{ action: "Deny", to: [] }] },
    egress: undefined,
    problems: [],
  },
];
for (const { name, spec, egress, problems } of clusterRules) {
  test(`cluster policy: ${name}`, () => {
    const output = clusterPolicy({ tier: "Admin", priority: 7, subject, ...spec });
    deepEqual(sentValue(output).outbound_rules, egress);
    deepEqual(sentValue(output).types, egress === undefined ? undefined : ["egress"]);
    deepEqual(fieldsOf(output), problems);
  });
}

const nothing: { name: string; spec: object; problem: string }[] = [
  { name: "an unknown tier", spec: { tier: "Other", subject }, problem: "spec.tier deleted" },
  { name: "no subject", spec: { tier: "Admin" }, problem: "spec.subject deleted" },
];
for (const { name, spec, problem } of nothing) {
  test(`cluster policy: ${name} is a deletion, and named`, () => {
    const output = clusterPolicy(spec);
    deepEqual([output.kvs[0]?.value, output.kvs[0]?.revision, fieldsOf(output)], [undefined, "", [problem]]);
  });
}

test("a UID that is none makes a policy unreadable", () => {
  const value = { metadata: { name: "p", uid: "x" }, spec: {} };
  const output = createKubernetesNetworkPolicyProcessor().set({ namespace: "shop", name: "p" }, "1", value);
  deepEqual(fieldsOf(output), ["metadata.uid deleted"]);
});
