// StagedGlobalNetworkPolicy: a GlobalNetworkPolicy that would be enforced, were it not staged.
import { lazy, struct } from "../../model/index.ts";
import { followedResource, specChecks } from "../kind.ts";
import { globalPolicyChecks, globalPolicyFields } from "./global-network-policy.ts";
import { globalRules, policyPrinterColumns, stagedAction } from "./policy-fields.ts";
import { tieredPolicy } from "./tiered-policy.ts";

export const stagedGlobalNetworkPolicySpec = lazy(() =>
  struct({ stagedAction: stagedAction(), ...globalPolicyFields() }, globalRules()),
);

export const stagedGlobalNetworkPolicy = followedResource("StagedGlobalNetworkPolicy", {
  ...tieredPolicy({ specName: "StagedGlobalNetworkPolicySpec", isGlobal: true, isStaged: true }),
  carries: "optional",
  names: ["stagedglobalnetworkpolicy", "stagedglobalnetworkpolicies", "sgnp", "sgnps"],
  schema: { spec: stagedGlobalNetworkPolicySpec },
  newGroup: { shortNames: ["sgnp"], columns: policyPrinterColumns, selectable: [".spec.tier"] },
  checks: specChecks(globalPolicyChecks),
});
