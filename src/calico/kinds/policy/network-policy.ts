// Calico's NetworkPolicy: a policy for the endpoints of its namespace.
import { lazy, type SchemaType, struct } from "../../model/index.ts";
import { followedResource } from "../kind.ts";
import {
  namespacedRules,
  performanceHints,
  policyColumns,
  policyPrinterColumns,
  ruleFields,
  selector,
  tierAndOrder,
  types,
} from "./policy-fields.ts";

export const networkPolicyFields = () => ({
  ...tierAndOrder(),
  ...ruleFields(),
  selector: selector(),
  types,
  serviceAccountSelector: selector(),
  performanceHints,
});

export const networkPolicySpec = lazy(() => struct(networkPolicyFields(), namespacedRules()));
export type NetworkPolicySpec = SchemaType<typeof networkPolicySpec>;

export const networkPolicy = followedResource("NetworkPolicy", {
  carries: "enforcement",
  names: ["networkpolicy", "networkpolicies", "policy", "np", "policies", "pol", "pols"],
  columns: policyColumns,
  schema: { spec: networkPolicySpec },
  newGroup: {
    shortNames: ["cnp", "caliconetworkpolicy"],
    columns: policyPrinterColumns,
    selectable: [".spec.tier"],
  },
});
