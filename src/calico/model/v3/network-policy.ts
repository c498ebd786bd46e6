// Calico's NetworkPolicy: a policy for the endpoints of its namespace.
import { type SchemaType, struct } from "../schema.ts";
import { namespacedRules, performanceHints, ruleFields, selector, tierAndOrder, types } from "./policy-fields.ts";

export const networkPolicyFields = {
  ...tierAndOrder,
  ...ruleFields,
  selector: selector(),
  types,
  serviceAccountSelector: selector(),
  performanceHints,
};

export const networkPolicySpec = struct(networkPolicyFields, namespacedRules);
export type NetworkPolicySpec = SchemaType<typeof networkPolicySpec>;
