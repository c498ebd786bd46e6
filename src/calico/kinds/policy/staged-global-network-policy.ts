// StagedGlobalNetworkPolicy: a GlobalNetworkPolicy that would be enforced, were it not staged.
import { lazy, struct } from "../../model/index.ts";
import { followedResource } from "../kind.ts";
import { globalPolicyFields } from "./global-network-policy.ts";
import { globalRules, policyColumns, policyPrinterColumns, stagedAction } from "./policy-fields.ts";

export const stagedGlobalNetworkPolicySpec = lazy(() =>
  struct({ stagedAction: stagedAction(), ...globalPolicyFields() }, globalRules()),
);

export const stagedGlobalNetworkPolicy = followedResource("StagedGlobalNetworkPolicy", {
  carries: "optional",
  names: ["stagedglobalnetworkpolicy", "stagedglobalnetworkpolicies", "sgnp", "sgnps"],
  columns: policyColumns,
  schema: { spec: stagedGlobalNetworkPolicySpec },
  newGroup: { shortNames: ["sgnp"], columns: policyPrinterColumns, selectable: [".spec.tier"] },
});
