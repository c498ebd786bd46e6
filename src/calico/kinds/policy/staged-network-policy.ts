// StagedNetworkPolicy: a NetworkPolicy that would be enforced, were it not staged.
import { lazy, struct } from "../../model/index.ts";
import { followedResource, specChecks } from "../kind.ts";
import { networkPolicyChecks, networkPolicyFields } from "./network-policy.ts";
import { namespacedRules, policyPrinterColumns, stagedAction } from "./policy-fields.ts";
import { tieredPolicy } from "./tiered-policy.ts";

export const stagedNetworkPolicySpec = lazy(() =>
  struct({ stagedAction: stagedAction(), ...networkPolicyFields() }, namespacedRules()),
);

export const stagedNetworkPolicy = followedResource("StagedNetworkPolicy", {
  ...tieredPolicy({ specName: "StagedNetworkPolicySpec", isGlobal: false, isStaged: true }),
  carries: "optional",
  names: ["stagednetworkpolicy", "stagednetworkpolicies", "stagedpolicy", "snp", "stagedpolicies", "spol", "spols"],
  schema: { spec: stagedNetworkPolicySpec },
  newGroup: { shortNames: ["scnp", "snp"], columns: policyPrinterColumns, selectable: [".spec.tier"] },
  checks: specChecks(networkPolicyChecks),
});
