// What would be, were the staged policies enforced: each takes the place of the policy that it stages.
import type { PolicyKind } from "../model/index.ts";
import type { PolicyData } from "./policy-data.ts";
import type { Policy } from "./values.ts";

const enforcedKind: { readonly [kind: string]: PolicyKind } = {
  StagedNetworkPolicy: "NetworkPolicy",
  StagedGlobalNetworkPolicy: "GlobalNetworkPolicy",
  StagedKubernetesNetworkPolicy: "KubernetesNetworkPolicy",
};

/** Undefined: nothing is staged. A staged deletion never reaches a client, so it is not among them. */
export function asIfEnforced(data: PolicyData): PolicyData | undefined {
  const staged = [...data.policies.entries()].filter(
    ([, policy]) => policy.isStaged && policy.stagedAction !== "Ignore",
  );
  if (staged.length === 0) return undefined;
  const copy = data.copy();
  for (const [path, policy] of staged) {
    const kind = enforcedKind[policy.kind];
    if (kind === undefined) continue;
    for (const [other, enforced] of data.policies) if (isStagedBy(enforced, policy, kind)) copy.policies.delete(other);
    // Rules by name: they are read when asked for, and a spread does not ask.
    copy.policies.set(path, { ...policy, rules: policy.rules, isStaged: false });
  }
  return copy;
}

function isStagedBy(enforced: Policy, staged: Policy, kind: PolicyKind): boolean {
  return enforced.kind === kind && enforced.namespace === staged.namespace && enforced.name === staged.name;
}
