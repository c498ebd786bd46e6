// StagedNetworkPolicy: a NetworkPolicy that would be enforced, were it not staged.
import { lazy, struct } from "../../model/index.ts";
import { followedResource } from "../kind.ts";
import { networkPolicyFields } from "./network-policy.ts";
import { namespacedRules, policyColumns, policyPrinterColumns, stagedAction } from "./policy-fields.ts";

export const stagedNetworkPolicySpec = lazy(() =>
  struct({ stagedAction: stagedAction(), ...networkPolicyFields() }, namespacedRules()),
);

export const stagedNetworkPolicy = followedResource("StagedNetworkPolicy", {
  carries: "optional",
  names: ["stagednetworkpolicy", "stagednetworkpolicies", "stagedpolicy", "snp", "stagedpolicies", "spol", "spols"],
  columns: policyColumns,
  schema: { spec: stagedNetworkPolicySpec },
  newGroup: { shortNames: ["scnp", "snp"], columns: policyPrinterColumns, selectable: [".spec.tier"] },
});
