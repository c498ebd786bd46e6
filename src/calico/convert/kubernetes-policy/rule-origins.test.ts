// Rules of Kubernetes' policies counted as they were written: every peer has a label of its own, so that a converted rule says where it comes from.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { type Random, seededRandom, testSeed } from "../../../../test/kit/random.ts";
import type { PolicyKind } from "../../model/index.ts";
import type { Processor } from "../processor/processor.ts";
import { createClusterNetworkPolicyProcessor } from "./cluster-network-policy.ts";
import {
  createKubernetesNetworkPolicyProcessor,
  createStagedKubernetesNetworkPolicyProcessor,
} from "./kubernetes-policies.ts";
import { ruleOrigins } from "./rule-origins.ts";

const id = { namespace: "shop", name: "p" };
const sentBy = (processor: Processor, value: object) => processor.set(id, "1", value).kvs[0]?.value ?? "";
const fields = (kind: PolicyKind, processor: Processor, spec: object) => {
  const value = { metadata: { name: "p" }, spec };
  const { ingress, egress } = ruleOrigins(kind, { id, value, sent: sentBy(processor, value) }) ?? {};
  return { ingress: ingress?.map(({ field }) => field), egress: egress?.map(({ field }) => field) };
};
const pods = (label: string) => ({ podSelector: { matchLabels: { is: label } } });
const ports = [{ port: 80 }, { port: 53, protocol: "UDP" }, { port: "web" }, { port: 99999 }, { protocol: "SCTP" }];

test("of a Kubernetes policy: one for each protocol and peer, and none for a rule that cannot be read", () => {
  const both = [{ port: 80 }, { port: 53, protocol: "UDP" }];
  const spec = {
    ingress: [{ from: [pods("a"), pods("b")], ports: both }, { ports: [{ port: 99999 }] }, {}, { from: [pods("c")] }],
    egress: [{ ports: both }],
  };
  const [from0, from1] = ["spec.ingress[0].from[0]", "spec.ingress[0].from[1]"];
  const expected = {
    ingress: [from0, from1, from0, from1, "spec.ingress[2]", "spec.ingress[3]"],
    egress: ["spec.egress[0]", "spec.egress[0]"],
  };
  deepEqual(fields("KubernetesNetworkPolicy", createKubernetesNetworkPolicyProcessor(), spec), expected);
  const {
    ingress: [first, , ...others],
    egress,
  } = spec;
  const staged = { stagedAction: "Set", ingress: [first, ...others], egress };
  deepEqual(fields("StagedKubernetesNetworkPolicy", createStagedKubernetesNetworkPolicyProcessor(), staged), {
    ingress: [from0, from1, from0, from1, "spec.ingress[1]", "spec.ingress[2]"],
    egress: expected.egress,
  });
});

test("of a cluster policy: a rule that cannot be read and denies all is one rule", () => {
  const peers = [{ namespaces: {} }, { pods: { podSelector: {}, namespaceSelector: {} } }];
  const spec = {
    tier: "Admin",
    priority: 1,
    subject: { namespaces: {} },
    ingress: [
      { action: "Deny", from: [...peers, {}] },
      { action: "Accept", from: [{}] },
      { action: "Pass", from: peers, protocols: [{ tcp: {} }, { udp: {} }] },
    ],
  };
  deepEqual(fields("KubernetesClusterNetworkPolicy", createClusterNetworkPolicyProcessor(), spec), {
    ingress: ["spec.ingress[0]", ...[0, 1, 0, 1].map((peer) => `spec.ingress[2].from[${peer}]`)],
    egress: [],
  });
});

test("an object that has changed since is not taken for what nodes were sent, and Calico's own need none", () => {
  const value = { metadata: { name: "p" }, spec: { ingress: [{}] } };
  const sent = sentBy(createKubernetesNetworkPolicyProcessor(), { ...value, spec: { ingress: [{}, {}] } });
  equal(ruleOrigins("KubernetesNetworkPolicy", { id, value, sent }), undefined);
  equal(ruleOrigins("NetworkPolicy", { id, value, sent }), undefined);
});

const seed = testSeed();
test(`random policies: every converted rule is that of the peer that is named, seed ${seed}`, () => {
  const random = seededRandom(seed);
  for (let round = 0; round < 300; round += 1) {
    const value = { metadata: { name: "p" }, spec: { ingress: randomRules(random) } };
    const sent = sentBy(createKubernetesNetworkPolicyProcessor(), value);
    const rules: { orig_src_selector?: string }[] = JSON.parse(sent).inbound_rules ?? [];
    const origins = ruleOrigins("KubernetesNetworkPolicy", { id, value, sent })?.ingress ?? [];
    equal(origins.length, rules.length);
    for (const [index, { rule, field }] of origins.entries()) {
      const [, at, , peer = "0"] = /^spec\.ingress\[(\d+)\](\.from\[(\d+)\])?$/.exec(field) ?? [];
      const selector = rules[index]?.orig_src_selector ?? `is == 'r${rule - 1}p0'`;
      equal(selector.includes(`is == 'r${at}p${peer}'`), true, `${field}: ${selector}`);
      equal(String(rule - 1), at);
    }
  }
});

function randomRules(random: Random): readonly object[] {
  return Array.from({ length: random.below(4) }, (_, at) => ({
    ...(random.isOneIn(4) ? {} : { ports: ports.filter(() => random.isOneIn(3)) }),
    from: Array.from({ length: random.below(4) }, (_, peer) => pods(`r${at}p${peer}`)),
  }));
}
