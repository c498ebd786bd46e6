// The index of a node against the same computed from scratch, after random histories: what it says is in force, and what its changes
// add up to, are both exactly that.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { node, policyChange } from "../../../../test/kit/policy-history.ts";
import { evaluateSelector } from "../../model/index.ts";
import { effectiveLabels, Members } from "../members.ts";
import { tiersFor } from "../order.ts";
import type { PolicyData } from "../policy-data.ts";
import { selectorOf } from "../set-spec.ts";
import { labelsAskedFor } from "./label-index.ts";
import { type NodeChanges, NodePolicy, setsOfRule } from "./node-policy.ts";
import { memberText } from "./set-members.ts";

type Needed = {
  readonly endpoints: { readonly [path: string]: unknown };
  readonly policies: readonly string[];
  readonly profiles: readonly string[];
  readonly sets: { readonly [id: string]: readonly string[] };
};

/** Computed from all data, without an index. */
function fromScratch(data: PolicyData): Needed {
  const members = new Members(data);
  const local = [...data.workloads, ...data.hostEndpoints].filter(([, { host }]) => host === node);
  const pathOf = new Map([...data.policies].map(([path, one]) => [one, path]));
  const endpoints = local.map(([path, endpoint]) => {
    const tiers = tiersFor(data, effectiveLabels(endpoint, data.profileLabels), ({ isStaged }) => !isStaged);
    return [
      path,
      tiers.map(({ tier, policies }) => [tier.name, tier.defaultAction, policies.map((each) => pathOf.get(each))]),
    ];
  });
  const active = [...data.policies].filter(
    ([, each]) =>
      !each.isStaged &&
      local.some(([, endpoint]) => evaluateSelector(each.selector, effectiveLabels(endpoint, data.profileLabels))),
  );
  const used = [...new Set(local.flatMap(([, { profileIds }]) => profileIds))].flatMap(
    (id) => data.profiles.get(id) ?? [],
  );
  const specs = [...active.map(([, each]) => each), ...used].flatMap((each) =>
    [...each.rules.ingress, ...each.rules.egress].flatMap(setsOfRule),
  );
  return {
    endpoints: Object.fromEntries(endpoints),
    policies: active.map(([path]) => path).sort(),
    profiles: used.map(({ name }) => name).sort(),
    sets: Object.fromEntries(specs.map((spec) => [spec.id, [...new Set(members.of(spec).map(memberText))].sort()])),
  };
}

/** What somebody knows who has only heard the changes. */
class Hearer {
  readonly endpoints = new Map<string, unknown>();
  readonly policies = new Set<string>();
  readonly profiles = new Set<string>();
  readonly sets = new Map<string, Set<string>>();

  hear({ endpoints, policies, profiles, sets }: NodeChanges): void {
    for (const [path, now] of endpoints) {
      if (now === undefined) this.endpoints.delete(path);
      else
        this.endpoints.set(
          path,
          now.tiers.map((tier) => [tier.tier, tier.defaultAction, tier.policies.map(({ id }) => id)]),
        );
    }
    for (const [path, now] of policies) this.policies[now === undefined ? "delete" : "add"](path);
    for (const [name, now] of profiles) this.profiles[now === undefined ? "delete" : "add"](name);
    for (const { id } of sets.created) {
      if (this.sets.has(id)) throw new Error(`${id} is made twice`);
      this.sets.set(id, new Set());
    }
    for (const id of sets.removed) if (!this.sets.delete(id)) throw new Error(`${id} is not there to be removed`);
    for (const [id, { added, removed }] of sets.members) {
      const known = this.sets.get(id);
      for (const member of added)
        if (known === undefined || known.has(member)) throw new Error(`${member} is in ${id} already`);
        else known.add(member);
      for (const member of removed) if (known?.delete(member) !== true) throw new Error(`${member} is not in ${id}`);
    }
  }

  get all(): Needed {
    return {
      endpoints: Object.fromEntries(this.endpoints),
      policies: [...this.policies].sort(),
      profiles: [...this.profiles].sort(),
      sets: Object.fromEntries([...this.sets].map(([id, known]) => [id, [...known].sort()])),
    };
  }
}

test("the changes of a node add up to what is computed from scratch, whatever happened before", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(policyChange, fc.boolean()), { maxLength: 40 }), (history) => {
      const index = new NodePolicy(node);
      const hearer = new Hearer();
      for (const [[path, given], isAsked] of history) {
        index.update(path, given === null ? undefined : JSON.stringify(given));
        if (!isAsked) continue;
        hearer.hear(index.takeChanges());
        deepEqual(hearer.all, fromScratch(index.data));
      }
      hearer.hear(index.takeChanges());
      deepEqual(hearer.all, fromScratch(index.data));
    }),
    { numRuns: 400 },
  );
});

test("what has been taken is not said again, and an update that changes nothing needed says nothing", () => {
  const index = new NodePolicy(node);
  const empty = {
    endpoints: new Map(),
    policies: new Map(),
    profiles: new Map(),
    sets: { created: [], removed: [], members: new Map() },
  };
  index.update(
    "/calico/v1/host/here/workload/k8s/n%2fx/endpoint/eth0",
    JSON.stringify({ state: "active", name: "cali1", labels: { a: "1" } }),
  );
  index.takeChanges();
  deepEqual(index.takeChanges(), empty);
  index.update(
    "/calico/v1/policy/GlobalNetworkPolicy//elsewhere",
    JSON.stringify({ tier: "default", selector: "a == '2'", inbound_rules: [{ src_selector: "b == '1'" }] }),
  );
  index.update(
    "/calico/v1/host/there/workload/k8s/n%2fy/endpoint/eth0",
    JSON.stringify({ state: "active", name: "cali2", labels: { b: "1" } }),
  );
  deepEqual(index.takeChanges(), empty);
});

const asked: readonly (readonly [string, readonly string[] | undefined])[] = [
  ["a == '1'", ["a=1"]],
  ["a in {'1', '2'}", ["a=1", "a=2"]],
  ["has(a) && b == '1'", ["b=1"]],
  ["a == '1' || has(b)", ["a=1", "b"]],
  ["a == '1' || b != '2'", undefined],
  ["!has(a)", undefined],
  ["a in {}", []],
  ["", undefined],
];
for (const [text, wanted] of asked)
  test(`the labels that ${text === "" ? "an empty selector" : text} asks for are ${wanted?.join(" or ") ?? "not to be told"}`, () => {
    deepEqual(labelsAskedFor(selectorOf(text)), wanted);
  });
