// Policies belong to a tier, which must be there; a tier goes only when it is empty, and some never go.
import { builtInTiers, defaultTierOrder } from "../../kinds/index.ts";
import type { ApiKind } from "../api-kinds.ts";
import { tieredPolicies } from "../forms/custom-resource.ts";
import { unsupported } from "../resource-error.ts";
import type { V3Object } from "../v3-object.ts";
import type { Rules } from "./rule.ts";

const tierLabel = "projectcalico.org/tier";

export const policyRules: Rules = {
  prepare: async (policy, { isNew, neighbours }) => {
    if (isNew) await neighbours.get("Tier", { namespace: "", name: tierOf(policy) });
    return withTierLabel(policy, tierOf(policy));
  },
  read: (policy) => (policy.metadata.labels?.[tierLabel] === undefined ? withTierLabel(policy, "default") : policy),
};

function tierOf({ spec }: V3Object): string {
  return typeof spec.tier === "string" && spec.tier !== "" ? spec.tier : "default";
}

/** Policies can be selected by their tier. */
function withTierLabel(policy: V3Object, tier: string): V3Object {
  const { metadata } = policy;
  return { ...policy, metadata: { ...metadata, labels: { ...metadata.labels, [tierLabel]: tier } } };
}

export const tierRules: Rules = {
  beforeDelete: async (id, { neighbours, revision }) => {
    if (builtInTiers.some(({ name }) => name === id.name)) {
      throw unsupported("Delete", id.name, `Cannot delete ${id.name} tier`);
    }
    for (const kind of inOrder) {
      const policies = await neighbours.list(kind);
      if (policies.some(({ spec }) => spec.tier === id.name)) {
        throw unsupported("delete", id.name, "Cannot delete a non-empty tier", "delete or move its policies first");
      }
    }
    return revision;
  },
  compare: (a, b) => orderOf(a) - orderOf(b),
};

const inOrder: readonly ApiKind[] = tieredPolicies;

function orderOf({ spec }: V3Object): number {
  return typeof spec.order === "number" ? spec.order : defaultTierOrder;
}
