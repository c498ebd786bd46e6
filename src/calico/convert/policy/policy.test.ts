import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { V1Policy } from "../../model/index.ts";
import { convertPolicy, type PolicyInput, type PolicySpec } from "./policy.ts";

function convert(spec: PolicySpec, rest: Omit<PolicyInput, "spec"> = { namespace: "" }) {
  const converted = convertPolicy({ spec, ...rest });
  const policy: V1Policy = converted.is === "value" ? JSON.parse(converted.value) : {};
  return { converted, policy, warnings: converted.is === "value" ? (converted.warnings ?? []) : [] };
}

const selectors: { name: string; spec: PolicySpec; namespace?: string; expected: string }[] = [
  { name: "an empty global one stays empty", spec: {}, expected: "" },
  { name: "the user's text stays as written", spec: { selector: "a  ==  'b'" }, expected: "a  ==  'b'" },
  {
    name: "a namespaced one is limited",
    spec: {},
    namespace: "shop",
    expected: "projectcalico.org/namespace == 'shop'",
  },
  {
    name: "a namespaced one with a service account selector",
    spec: { selector: "x == 'y'", serviceAccountSelector: "q == 'r'" },
    namespace: "shop",
    expected: "((x == 'y') && projectcalico.org/namespace == 'shop') && pcsa.q == \"r\"",
  },
  {
    name: "a namespaced one keeps all() for its service accounts",
    spec: { serviceAccountSelector: "all()" },
    namespace: "shop",
    expected: "(projectcalico.org/namespace == 'shop') && all()",
  },
  {
    name: "a global one rewrites all(), the user's own included",
    spec: { selector: "all()", namespaceSelector: "all()" },
    expected: "(has(projectcalico.org/namespace)) && has(projectcalico.org/namespace)",
  },
  {
    name: "a global one with only a namespace selector",
    spec: { namespaceSelector: "f in {'z','y'}" },
    expected: 'pcns.f in {"y", "z"}',
  },
  {
    name: "a global one rewrites all() of service accounts",
    spec: { serviceAccountSelector: "all()" },
    expected: "has(projectcalico.org/serviceaccount)",
  },
  { name: "a global one keeps its own all() alone", spec: { selector: "all()" }, expected: "all()" },
];
for (const { name, spec, namespace = "", expected } of selectors) {
  test(`selector: ${name}`, () => equal(convert(spec, { namespace }).policy.selector, expected));
}

test("a namespace selector that does not parse is left out, and that is said", () => {
  const { policy, warnings } = convert({ selector: "a == 'b'", namespaceSelector: "nonsense" });
  equal(policy.selector, "a == 'b'");
  deepEqual(
    warnings.map(({ field, effect }) => [field, effect]),
    [["spec.namespaceSelector", "sent-as-original"]],
  );
});

test("all() inside quotes is replaced too, and that is said", () => {
  const { policy, warnings } = convert({ selector: "x == 'all()'", namespaceSelector: "has(y)" });
  equal(policy.selector, "(x == 'has(projectcalico.org/namespace)') && has(pcns.y)");
  equal(warnings.length, 1);
});

type Rules = NonNullable<PolicySpec["ingress"]>;
const rules: { name: string; rule: Rules[number]; namespace?: string; expected: object }[] = [
  { name: "Pass is next-tier", rule: { action: "Pass" }, expected: { action: "next-tier" } },
  {
    name: "protocols are lower case, numbers stay",
    rule: { action: "Allow", protocol: "ICMPv6", notProtocol: 47 },
    expected: { action: "allow", protocol: "icmpv6", "!protocol": 47 },
  },
  {
    name: "an explicit 0 is kept",
    rule: { action: "Allow", icmp: { type: 0, code: 0 } },
    expected: { action: "allow", icmp_type: 0, icmp_code: 0 },
  },
  {
    name: "networks are masked, of either form",
    rule: { action: "Allow", source: { nets: ["10.1.2.3/16", "fd00::1"] }, destination: { notNets: ["1.1.1.1"] } },
    expected: { action: "allow", src_nets: ["10.1.0.0/16", "fd00::1/128"], "!dst_nets": ["1.1.1.1/32"] },
  },
  {
    name: "nets alone are not limited to the namespace",
    rule: { action: "Allow", source: { nets: ["10.0.0.0/8"] } },
    namespace: "shop",
    expected: { action: "allow", src_nets: ["10.0.0.0/8"] },
  },
  {
    name: "a notSelector alone is",
    rule: { action: "Allow", source: { notSelector: "a == 'b'" } },
    namespace: "shop",
    expected: {
      action: "allow",
      src_selector: "projectcalico.org/namespace == 'shop'",
      "!src_selector": "a == 'b'",
      "!orig_src_selector": "a == 'b'",
    },
  },
  {
    name: "all parts of a side together",
    rule: {
      action: "Allow",
      source: {
        namespaceSelector: "all() && n != 'v'",
        selector: 'a == "b"',
        serviceAccounts: { names: ["sb", "sa", "sb"], selector: "k in {'b','a'}" },
      },
    },
    expected: {
      action: "allow",
      src_selector:
        '((has(projectcalico.org/namespace) && pcns.n != "v")) && (((pcsa.k in {"a", "b"}) && (projectcalico.org/serviceaccount in {"sa", "sb"})) && (a == "b"))',
      orig_src_selector: 'a == "b"',
      orig_src_namespace_selector: "all() && n != 'v'",
      orig_src_service_acct_names: ["sb", "sa", "sb"],
      orig_src_service_acct_selector: "k in {'b','a'}",
    },
  },
  {
    name: "global() is what is in no namespace",
    rule: { action: "Allow", destination: { namespaceSelector: "global()" } },
    expected: {
      action: "allow",
      dst_selector: "!has(projectcalico.org/namespace)",
      orig_dst_namespace_selector: "global()",
    },
  },
  {
    name: "services and HTTP",
    rule: {
      action: "Allow",
      destination: { services: { name: "dns", namespace: "kube-system" } },
      http: { methods: ["GET"], paths: [{ exact: "/a" }, { prefix: "/b" }] },
      metadata: { annotations: { name: "x" } },
    },
    expected: {
      action: "allow",
      dst_service: "dns",
      dst_service_ns: "kube-system",
      http: { methods: ["GET"], paths: [{ exact: "/a" }, { prefix: "/b" }] },
      metadata: { annotations: { name: "x" } },
    },
  },
  {
    name: "an empty HTTP match is still one",
    rule: { action: "Allow", http: {} },
    expected: { action: "allow", http: {} },
  },
  {
    name: "ports are copied",
    rule: { action: "Deny", protocol: "TCP", source: { ports: [80, "90:99", "http"] } },
    expected: { action: "deny", protocol: "tcp", src_ports: [80, "90:99", "http"] },
  },
];
for (const { name, rule, namespace = "", expected } of rules) {
  test(`rule: ${name}`, () => {
    deepEqual(convert({ ingress: [rule] }, { namespace }).policy.inbound_rules, [expected]);
    deepEqual(convert({ egress: [rule] }, { namespace }).policy.outbound_rules, [expected]);
  });
}

test("a net that is none is left out, which may open the rule, and that is said", () => {
  const { policy, warnings } = convert({ ingress: [{ action: "Allow", source: { nets: ["junk", ""] } }] });
  deepEqual(policy.inbound_rules, [{ action: "allow" }]);
  deepEqual(
    warnings.map(({ field }) => field),
    ["spec.ingress[0].source.nets[0]", "spec.ingress[0].source.nets[1]"],
  );
});

test("names of service accounts that cannot be quoted take the whole match with them", () => {
  const { policy, warnings } = convert({
    ingress: [{ action: "Allow", source: { serviceAccounts: { names: ["it's"], selector: "has(a)" } } }],
  });
  equal(policy.inbound_rules?.[0]?.src_selector, undefined);
  equal(warnings[0]?.effect, "sent-as-original");
});

test("a namespaced policy has no host-endpoint flags, a global one has", () => {
  const spec = { doNotTrack: true, preDNAT: true, applyOnForward: true };
  equal(convert(spec, { namespace: "shop" }).policy.untracked, undefined);
  const { untracked, pre_dnat, apply_on_forward } = convert(spec).policy;
  deepEqual([untracked, pre_dnat, apply_on_forward], [true, true, true]);
});

test("the field order is Go's", () => {
  const { converted } = convert(
    { order: 0, types: ["Ingress"], ingress: [{ action: "Allow" }], performanceHints: ["AssumeNeededOnEveryNode"] },
    { namespace: "shop", stagedAction: "Learn" },
  );
  equal(
    converted.is === "value" && converted.value,
    '{"namespace":"shop","tier":"default","order":0,"inbound_rules":[{"action":"allow"}],"selector":"projectcalico.org/namespace == \'shop\'","types":["ingress"],"performance_hints":["AssumeNeededOnEveryNode"],"staged_action":"Learn"}',
  );
});

test("a staged deletion is absent", () =>
  equal(convert({}, { namespace: "", stagedAction: "Delete" }).converted.is, "absent"));

// What the validation filter makes of a policy: the field that breaks a rule, or undefined for a good one.
const validated: { name: string; spec: PolicySpec; field: string | undefined }[] = [
  { name: "an empty policy is good", spec: {}, field: undefined },
  { name: "a selector must parse", spec: { selector: "a ==" }, field: "spec.selector" },
  { name: "a hint must be known", spec: { performanceHints: ["Fast"] }, field: "spec.performanceHints" },
  {
    name: "a hint must not be twice",
    spec: { performanceHints: ["AssumeNeededOnEveryNode", "AssumeNeededOnEveryNode"] },
    field: "spec.performanceHints",
  },
  { name: "any action will do", spec: { ingress: [{ action: "Explode" }] }, field: undefined },
  ...ruleCases(),
];

function ruleCases(): { name: string; spec: PolicySpec; field: string | undefined }[] {
  const table: [string, Rules[number], string | undefined][] = [
    ["IP version 5", { ipVersion: 5 }, "ipVersion"],
    ["IP version 6", { ipVersion: 6 }, undefined],
    ["ICMP type 254", { icmp: { type: 254 } }, undefined],
    ["ICMP type 255", { icmp: { type: 255 } }, "icmp.type"],
    ["ICMP type -1", { icmp: { type: -1 } }, "icmp.type"],
    ["ICMP code 255", { icmp: { code: 255 } }, undefined],
    ["ICMP code 256", { icmp: { code: 256 } }, "icmp.code"],
    ["not ICMP type 255", { notICMP: { type: 255 } }, "notICMP.type"],
    ["not ICMP code 256", { notICMP: { code: 256 } }, "notICMP.code"],
    ["protocol 0", { protocol: 0 }, "protocol"],
    ["protocol 255", { protocol: 255 }, undefined],
    ["an unknown protocol", { protocol: "GRE" }, "protocol"],
    ["an unknown protocol, negated", { notProtocol: "GRE" }, "notProtocol"],
    ["UDPLite", { protocol: "UDPLite" }, undefined],
    ["a bad selector", { source: { selector: "a" } }, "source.selector"],
    ["a bad notSelector", { destination: { notSelector: "a" } }, "destination.notSelector"],
    ["a bad namespaceSelector", { source: { namespaceSelector: "a" } }, "source.namespaceSelector"],
    ["a bad account selector", { source: { serviceAccounts: { selector: "a" } } }, "source.serviceAccounts.selector"],
    ["a port without protocol", { destination: { ports: [80] } }, "destination.ports[0]"],
    ["a port range without protocol", { source: { notPorts: ["80:90"] } }, "source.notPorts[0]"],
    ["a named port without protocol", { destination: { ports: ["http"] } }, undefined],
    ["a port with TCP", { protocol: "TCP", destination: { ports: [80] } }, undefined],
    ["a port with protocol 132", { protocol: 132, destination: { ports: [80] } }, undefined],
    ["a port with ICMP", { protocol: "ICMP", destination: { ports: [80] } }, "destination.ports[0]"],
    ["a named port with UDPLite", { protocol: "UDPLite", source: { ports: ["http"] } }, "source.ports[0]"],
    ["port 0", { protocol: "TCP", source: { ports: [0] } }, "source.ports[0]"],
    ["a range from 0", { protocol: "TCP", destination: { notPorts: ["0:10"] } }, "destination.notPorts[0]"],
    ["a port name of 16 letters", { source: { ports: ["abcdefghijklmnop"] } }, "source.ports[0]"],
    ["a port name in capitals", { source: { ports: ["HTTP"] } }, "source.ports[0]"],
    ["a port name without a letter", { source: { ports: ["1-1"] } }, "source.ports[0]"],
    ["a port name with two dashes", { source: { ports: ["a--b"] } }, "source.ports[0]"],
    ["a port name that ends in a dash", { source: { ports: ["a-"] } }, "source.ports[0]"],
    ["a second port that is bad", { protocol: "UDP", source: { ports: [1, 0] } }, "source.ports[1]"],
  ];
  return table.flatMap(([name, rule, field]) =>
    (["ingress", "egress"] as const).map((direction) => ({
      name: `${direction}: ${name}`,
      spec: { [direction]: [{ action: "Allow" }, { action: "Allow", ...rule }] },
      field: field === undefined ? undefined : `spec.${direction}[1].${field}`,
    })),
  );
}

for (const { name, spec, field } of validated) {
  test(`validation: ${name}${field === undefined ? " is good" : " is refused"}`, () => {
    const { converted } = convert(spec);
    equal(converted.is, field === undefined ? "value" : "invalid");
    equal(converted.is === "invalid" ? converted.problem.field : undefined, field);
  });
}
