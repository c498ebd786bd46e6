// Which policies an endpoint has, tier by tier, in the order in which they are asked.
import { compareUtf8, evaluateSelector, type Labels } from "../model/index.ts";
import type { PolicyData } from "./policy-data.ts";
import type { Policy, Tier } from "./values.ts";

export type TierOfPolicies = { readonly tier: Tier; readonly isMissing: boolean; readonly policies: readonly Policy[] };

/** Those whose selector holds for the labels. Tiers without any are left out. */
export function tiersFor(
  data: PolicyData,
  labels: Labels,
  isWanted: (policy: Policy) => boolean,
): readonly TierOfPolicies[] {
  const byTier = new Map<string, Policy[]>();
  for (const policy of data.policies.values()) {
    if (!isWanted(policy) || !evaluateSelector(policy.selector, labels)) continue;
    const list = byTier.get(policy.tier);
    if (list === undefined) byTier.set(policy.tier, [policy]);
    else list.push(policy);
  }
  return [...byTier]
    .map(([name, policies]) => {
      const tier = data.tiers.get(name);
      policies.sort(comparePolicies);
      return { tier: tier ?? missingTier(name), isMissing: tier === undefined, policies };
    })
    .sort(compareTiers);
}

/** A tier that does not exist comes after all that do, and ends in a deny. */
function missingTier(name: string): Tier {
  return { name, order: undefined, defaultAction: "deny" };
}

function compareTiers(a: TierOfPolicies, b: TierOfPolicies): number {
  if (a.isMissing !== b.isMissing) return a.isMissing ? 1 : -1;
  return compareOrders(a.tier.order, b.tier.order) || compareUtf8(a.tier.name, b.tier.name);
}

export function comparePolicies(a: Policy, b: Policy): number {
  return compareOrders(a.order, b.order) || compareUtf8(sortName(a), sortName(b));
}

function sortName({ name, namespace, kind }: Policy): string {
  return `${name}/${namespace}/${kind}`;
}

/** None comes last. */
function compareOrders(a = Number.POSITIVE_INFINITY, b = Number.POSITIVE_INFINITY): number {
  return a === b ? 0 : a - b;
}
