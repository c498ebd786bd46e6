// What `validate` says of single documents, to the letter: beside the recorded documents (validate.test.ts), texts that the
// original's calicoctl printed for documents made for this.
import { equal } from "node:assert/strict";
import { test } from "node:test";
import { type Kind, problemText, schemaProblems, validate, withSchemaDefaults } from "./index.ts";

type Row = { readonly name: string; readonly kind: Kind; readonly object: object; readonly says: string };

const tag = (field: string, value: string, rule: string) =>
  `${field} = '${value}' (Reason: failed to validate Field: ${field} because of Tag: ${rule} )`;
const several = (...lines: string[]) =>
  `error with the following fields:\n${lines.map((line) => `-  ${line}\n`).join("")}`;
const named = (name: string, spec: object) => ({ metadata: { name }, spec });
const long = (count: number) => "x".repeat(count);

const rows: readonly Row[] = [
  {
    name: "a tier's name may have 63 characters",
    kind: "Tier",
    object: named(long(64), {}),
    says: `error with field Metadata.Name = '${long(64)}' (name is too long by 1 bytes)`,
  },
  {
    name: "the length of a policy's name is told twice",
    kind: "GlobalNetworkPolicy",
    object: named(long(254), {}),
    says: several(...Array(2).fill(`Metadata.Name = '${long(254)}' (name is too long by 1 bytes)`)),
  },
  {
    name: "an action that no tier has breaks both lists of the schema",
    kind: "Tier",
    object: named("t", { defaultAction: "Block" }),
    says: several(
      tag("DefaultAction", "Block", "oneof"),
      'spec.defaultAction (supported values: "Allow", "Deny", "Log", "Pass")',
      'spec.defaultAction (supported values: "Pass", "Deny")',
      'Tier ("spec.defaultAction" must validate all the schemas (allOf). None validated)',
    ),
  },
  {
    name: "an action that rules have and tiers have not breaks one of them",
    kind: "Tier",
    object: named("t", { defaultAction: "Log" }),
    says: several(
      tag("DefaultAction", "Log", "oneof"),
      'spec.defaultAction (supported values: "Pass", "Deny")',
      'Tier ("spec.defaultAction" must validate all the schemas (allOf))',
    ),
  },
  {
    name: "what two schemas ask for alike is told once",
    kind: "BGPPeer",
    object: named("p", { peerIP: "10.0.0.1", reversePeering: "Never" }),
    says: several(
      'spec.reversePeering (supported values: "Auto", "Manual")',
      'BGPPeer ("spec.reversePeering" must validate all the schemas (allOf). None validated)',
    ),
  },
  {
    name: "of a text that is too long the pattern is not told",
    kind: "BGPConfiguration",
    object: named("default", {
      communities: [{ name: "a", value: long(41) }],
      prefixAdvertisements: [{ cidr: "10.0.0.0/8", communities: ["a"] }],
    }),
    says: several(
      `Spec.Communities[].Value = '${long(41)}' (invalid community value or format used.)`,
      "spec.communities[0].value (may not be more than 40 bytes)",
    ),
  },
  {
    name: "each part of a community that is too large is told",
    kind: "BGPConfiguration",
    object: named("default", { prefixAdvertisements: [{ cidr: "10.0.0.0/8", communities: ["65536:65536"] }] }),
    says: several(
      ...Array(2).fill(
        "Spec.PrefixAdvertisement[].Communities[] = '65536:65536' (invalid community value, expected 16 bit value)",
      ),
    ),
  },
  {
    name: "an advertised network that is missing is told once",
    kind: "BGPConfiguration",
    object: named("default", { prefixAdvertisements: [{ communities: ["1:2"] }] }),
    says: `error with field ${tag("CIDR", "", "required")}`,
  },
  {
    name: "a priority of 0 is there, and too small",
    kind: "BGPFilter",
    object: named("f", { importV4: [{ action: "Accept", operations: [{ setPriority: { value: 0 } }] }] }),
    says: several(
      tag("Value", "0", "gte"),
      "spec.importV4[0].operations[0].setPriority.value (spec.importV4[0].operations[0].setPriority.value in body should be greater than or equal to 1)",
    ),
  },
  {
    name: "what is no address has no family",
    kind: "BGPPeer",
    object: named("p", { peerIP: "10.0.0.1", reachableBy: "gateway" }),
    says: `error with field ${tag("ReachableBy", "gateway", "reachableBy")}`,
  },
  {
    name: "keys and values of labels have 63 bytes",
    kind: "GlobalNetworkSet",
    object: { metadata: { name: "s", labels: { [long(64)]: long(64) } }, spec: {} },
    says: several(
      `Metadata.Labels (label) = '${long(64)}' (name part must be no more than 63 bytes)`,
      `Metadata.Labels (value) = '${long(64)}' (must be no more than 63 bytes)`,
    ),
  },
  {
    name: "a port of a host endpoint has a protocol, written as in rules",
    kind: "HostEndpoint",
    object: named("h", {
      node: "n",
      interfaceName: "eth0",
      profiles: [""],
      ports: [
        { name: "a", port: 80, protocol: 0 },
        { name: "b", port: 80, protocol: "tcp" },
      ],
    }),
    says: several(
      tag("Profiles[0]", "", "name"),
      "Protocol = '0' (protocol number invalid)",
      "EndpointPort.Protocol = '0' (EndpointPort protocol does not support ports.)",
      "Protocol = 'tcp' (protocol name invalid)",
    ),
  },
  {
    name: "a hint that nobody knows is named itself",
    kind: "GlobalNetworkPolicy",
    object: named("p", { performanceHints: ["Hurry"] }),
    says: several(
      tag("PerformanceHints[0]", "Hurry", "oneof"),
      'spec.performanceHints[0] (supported values: "AssumeNeededOnEveryNode")',
    ),
  },
  {
    name: "of several bad paths the first is told, of numbers the choice in quotes",
    kind: "GlobalNetworkPolicy",
    object: named("p", { ingress: [{ action: "Allow", ipVersion: 5, http: { paths: [{}, {}] } }] }),
    says: several(
      "Paths = '[{ } { }]' (Invalid path match. Either 'exact' or 'prefix' must be set)",
      'spec.ingress[0].ipVersion (supported values: "4", "6")',
    ),
  },
  {
    name: "an IPAMConfiguration has at most a million blocks for a node",
    kind: "IPAMConfiguration",
    object: named("default", { strictAffinity: true, autoAllocateBlocks: true, maxBlocksPerHost: 1_000_001 }),
    says: "error with field spec.maxBlocksPerHost (spec.maxBlocksPerHost in body should be less than or equal to 1000000)",
  },
  {
    name: "a map, and a list of tables, are shown as Go prints them",
    kind: "FelixConfiguration",
    object: named("default", { bpfLogFilters: { "a b": "x" }, routeTableRanges: [{ min: 1, max: 65536 }] }),
    says: several(
      tag("BPFLogFilters", "map[a b:x]", "bpfLogFilters"),
      "RouteTableRanges = '&[{1 65536}]' (targets too many tables)",
    ),
  },
  {
    name: "a workload's ports have a protocol with ports, its gateways their family, its NATs are told together",
    kind: "WorkloadEndpoint",
    object: named("n1-k8s-web-eth0", {
      interfaceName: "cali0",
      ipv4Gateway: "fd00::1",
      ports: [{ name: "a", port: 80, protocol: 1 }],
      ipNATs: [{ internalIP: "10.0.0.1" }, { internalIP: "10.0.0.2", externalIP: "1.1.1.1" }],
    }),
    says: several(
      "ExternalIP = '' (mismatched IP versions)",
      tag("IPv4Gateway", "fd00::1", "ipv4"),
      "WorkloadEndpointPort.Protocol = '1' (WorkloadEndpointPort protocol does not support ports.)",
      "IPv4Gateway = 'fd00::1' (invalid IPv4 gateway address specified)",
      "IPNATs = '[{10.0.0.1 } {10.0.0.2 1.1.1.1}]' (NAT is not in the endpoint networks)",
    ),
  },
  {
    name: "a type that a staged policy has twice is one of the policy that it will be",
    kind: "StagedGlobalNetworkPolicy",
    object: named("p", { types: ["Egress", "Egress"] }),
    says: "error with field GlobalNetworkPolicySpec.Types = '[Egress Egress]' ('Egress' type specified more than once)",
  },
  {
    name: "a pool's empty assignment mode is one that nobody knows",
    kind: "IPPool",
    object: named("p", { cidr: "10.62.0.0/16", assignmentMode: "" }),
    says: 'error with field spec.assignmentMode (supported values: "Automatic", "Manual")',
  },
  {
    name: "an API server would not take a pool of IPv4 that is written as IPv6",
    kind: "IPPool",
    object: named("p", { cidr: "::ffff:10.62.0.0/112" }),
    says: several(
      ...[
        "IPPool CIDR must be strictly masked",
        "IPPool CIDR overlaps with IPv4 link local range 169.254.0.0/16",
        "IPPool CIDR overlaps with IPv6 link local range fe80::/10",
        "IP pool size is too small for use with Calico IPAM. It must be equal to or greater than the block size.",
      ].map(
        (rule) =>
          `spec (network address parse error during conversion from string: IPv4-mapped IPv6 address "::ffff:10.62.0.0/112" is not allowed evaluating rule: ${rule})`,
      ),
    ),
  },
  {
    name: "annotations that are too large are shown",
    kind: "GlobalNetworkSet",
    object: { metadata: { name: "s", annotations: { b: "", a: long(262_144) } }, spec: {} },
    says: `error with field Metadata.Annotations (key) = 'map[a:${long(262_144)} b:]' (total size of annotations is too large by 2 bytes)`,
  },
];

for (const { name, kind, object, says } of rows)
  test(name, () => {
    const problems = [...validate(kind, object), ...schemaProblems(kind, withSchemaDefaults(kind, object))];
    equal(problemText(problems), says);
  });
