// StagedKubernetesNetworkPolicy: a Kubernetes NetworkPolicy's spec, staged.
import { kubernetesNetworkPolicyFields } from "../kubernetes/network-policy.ts";
import { struct } from "../schema.ts";
import { stagedAction } from "./policy-fields.ts";

export const stagedKubernetesNetworkPolicySpec = struct({ stagedAction, ...kubernetesNetworkPolicyFields });
