// How a rule is called: as it was written where that is known, and never by a number that looks as if it were.
import { equal } from "node:assert/strict";
import { test } from "node:test";
import { PolicyData } from "../policy/index.ts";
import { noSources, originIn, ruleName } from "./origin.ts";

const written = { rule: 2, field: "spec.ingress[1].from[0]" };
const path = (kind: string) => `/calico/v1/policy/${kind}/red/p`;

function nameOf(kind: string, originOf: typeof noSources.originOf): string {
  const data = new PolicyData();
  data.set(path(kind), JSON.stringify({ tier: "default", selector: "all()", inbound_rules: [{ action: "allow" }] }));
  const [policy] = [...data.policies.values()];
  if (policy === undefined) throw new Error("the policy is void");
  return ruleName(policy, { direction: "ingress", number: 1 }, originOf);
}

for (const [kind, known, unknown] of [
  ["KubernetesNetworkPolicy", "ingress rule 2 (spec.ingress[1].from[0])", "ingress rule 1 as nodes count"],
  ["StagedKubernetesNetworkPolicy", "ingress rule 2 (spec.ingress[1].from[0])", "ingress rule 1 as nodes count"],
  ["NetworkPolicy", "ingress rule 2 (spec.ingress[1].from[0])", "ingress rule 1"],
] as const)
  test(`${kind}: with its object, and without`, () => {
    const origins = originIn(new Map([[path(kind), { ingress: [written], egress: [] }]]));
    equal(nameOf(kind, origins), known);
    equal(nameOf(kind, noSources.originOf), unknown);
  });
