// Tier: the order in which groups of policies are asked, and what happens when none of a group applies.
import { float, optional, struct, text } from "../schema.ts";
import { type CelRule, celRules } from "./cel.ts";

/** The order of a tier that has none, in Kubernetes. */
export const defaultTierOrder = 1_000_000;

/** The tiers that every cluster has. */
export const builtInTiers = [
  { name: "default", order: defaultTierOrder, defaultAction: "Deny" },
  { name: "kube-admin", order: 1000, defaultAction: "Pass" },
  { name: "kube-baseline", order: 10_000_000, defaultAction: "Pass" },
] as const;

const pinned = ({ name, order, defaultAction: action }: (typeof builtInTiers)[number]): CelRule[] => [
  {
    rule: `self.metadata.name != '${name}' || (has(self.spec.defaultAction) && self.spec.defaultAction == '${action}')`,
    message: `tier ${name} must have defaultAction ${action}`,
  },
  {
    rule: `self.metadata.name != '${name}' || (has(self.spec.order) && self.spec.order == ${order}.0)`,
    message: `tier ${name} must have order ${order}`,
  },
];

export const tierSpec = struct({
  order: optional(float()),
  defaultAction: optional(text({ enum: ["Pass", "Deny"], default: "Deny" })),
});

export const tierRules = celRules(...builtInTiers.flatMap(pinned));
