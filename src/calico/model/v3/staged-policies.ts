// The staged twins of Calico's policies: what would be enforced, were it not staged.
import { struct } from "../schema.ts";
import { globalPolicyFields } from "./global-network-policy.ts";
import { networkPolicyFields } from "./network-policy.ts";
import { globalRules, namespacedRules, stagedAction } from "./policy-fields.ts";

export const stagedGlobalNetworkPolicySpec = struct({ stagedAction, ...globalPolicyFields }, globalRules);

export const stagedNetworkPolicySpec = struct({ stagedAction, ...networkPolicyFields }, namespacedRules);
