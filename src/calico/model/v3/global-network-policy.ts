// GlobalNetworkPolicy: a policy for endpoints of all namespaces, and of none.
import { flag, type SchemaType, struct } from "../schema.ts";
import { globalRules, performanceHints, ruleFields, selector, tierAndOrder, types } from "./policy-fields.ts";

export const globalPolicyFields = {
  ...tierAndOrder,
  ...ruleFields,
  selector: selector(),
  types,
  doNotTrack: flag(),
  preDNAT: flag(),
  applyOnForward: flag(),
  serviceAccountSelector: selector(),
  namespaceSelector: selector(),
  performanceHints,
};

export const globalNetworkPolicySpec = struct(globalPolicyFields, globalRules);
export type GlobalNetworkPolicySpec = SchemaType<typeof globalNetworkPolicySpec>;
