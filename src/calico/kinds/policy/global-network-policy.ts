// GlobalNetworkPolicy: a policy for endpoints of all namespaces, and of none.
import { flag, lazy, type SchemaType, struct } from "../../model/index.ts";
import { followedResource } from "../kind.ts";
import {
  globalRules,
  performanceHints,
  policyColumns,
  policyPrinterColumns,
  ruleFields,
  selector,
  tierAndOrder,
  types,
} from "./policy-fields.ts";

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

export const globalNetworkPolicy = followedResource("GlobalNetworkPolicy", {
  carries: "enforcement",
  names: ["globalnetworkpolicy", "globalnetworkpolicies", "gnp", "gnps"],
  columns: policyColumns,
  schema: { spec: globalNetworkPolicySpec },
  newGroup: {
    shortNames: ["gnp", "cgnp"],
    columns: [...policyPrinterColumns, ["Age", ".metadata.creationTimestamp", "date"]],
    selectable: [".spec.tier"],
  },
});
