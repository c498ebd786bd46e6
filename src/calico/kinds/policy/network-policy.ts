// Calico's NetworkPolicy: a policy for the endpoints of its namespace.
import { lazy, type SchemaType, struct } from "../../model/index.ts";
import { fields } from "../checks/check.ts";
import { followedResource, specChecks } from "../kind.ts";
import {
  namespacedRules,
  performanceHints,
  policyPrinterColumns,
  ruleFields,
  selector,
  tierAndOrder,
  types,
} from "./policy-fields.ts";
import { policyFieldChecks, tieredPolicy } from "./tiered-policy.ts";

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

export const networkPolicyChecks = () => fields<NetworkPolicySpec>(policyFieldChecks());

export const networkPolicy = followedResource("NetworkPolicy", {
  ...tieredPolicy({ specName: "NetworkPolicySpec", isGlobal: false, isStaged: false }),
  carries: "enforcement",
  names: ["networkpolicy", "networkpolicies", "policy", "np", "policies", "pol", "pols"],
  schema: { spec: networkPolicySpec },
  newGroup: {
    shortNames: ["cnp", "caliconetworkpolicy"],
    columns: policyPrinterColumns,
    selectable: [".spec.tier"],
  },
  checks: specChecks(networkPolicyChecks),
});
