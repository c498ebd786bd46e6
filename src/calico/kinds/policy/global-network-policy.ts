// GlobalNetworkPolicy: a policy for endpoints of all namespaces, and of none.
import { flag, lazy, type SchemaType, struct } from "../../model/index.ts";
import { fields, filled } from "../checks/check.ts";
import { selector as selectorTag } from "../checks/tags.ts";
import { followedResource, specChecks } from "../kind.ts";
import {
  globalRules,
  performanceHints,
  policyPrinterColumns,
  ruleFields,
  selector,
  tierAndOrder,
  types,
} from "./policy-fields.ts";
import { policyFieldChecks, tieredPolicy } from "./tiered-policy.ts";

export const globalPolicyFields = () => ({
  ...tierAndOrder(),
  ...ruleFields(),
  selector: selector(),
  types,
  doNotTrack: flag(),
  preDNAT: flag(),
  applyOnForward: flag(),
  serviceAccountSelector: selector(),
  namespaceSelector: selector(),
  performanceHints,
});

export const globalNetworkPolicySpec = lazy(() => struct(globalPolicyFields(), globalRules()));
export type GlobalNetworkPolicySpec = SchemaType<typeof globalNetworkPolicySpec>;

export const globalPolicyChecks = () => {
  const { performanceHints: hints, ...checks } = policyFieldChecks();
  // In the order of Go's fields, which is the order in which problems are said.
  return fields<GlobalNetworkPolicySpec>({
    ...checks,
    namespaceSelector: filled(selectorTag),
    performanceHints: hints,
  });
};

export const globalNetworkPolicy = followedResource("GlobalNetworkPolicy", {
  ...tieredPolicy({ specName: "GlobalNetworkPolicySpec", isGlobal: true, isStaged: false }),
  carries: "enforcement",
  names: ["globalnetworkpolicy", "globalnetworkpolicies", "gnp", "gnps"],
  schema: { spec: globalNetworkPolicySpec },
  newGroup: {
    shortNames: ["gnp", "cgnp"],
    columns: [...policyPrinterColumns, ["Age", ".metadata.creationTimestamp", "date"]],
    selectable: [".spec.tier"],
  },
  checks: specChecks(globalPolicyChecks),
});
