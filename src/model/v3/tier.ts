// Tier: the order in which groups of policies are asked, and what happens when none of a group applies.
import { float, optional, struct, text } from "../schema.ts";
import { type CelRule, celRules } from "./cel.ts";

const pinned = (name: string, order: number, action: string): CelRule[] => [
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

export const tierRules = celRules(
  ...pinned("default", 1000000, "Deny"),
  ...pinned("kube-admin", 1000, "Pass"),
  ...pinned("kube-baseline", 10000000, "Pass"),
);
