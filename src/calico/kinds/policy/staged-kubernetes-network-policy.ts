// StagedKubernetesNetworkPolicy: a Kubernetes NetworkPolicy's spec, staged.

import { lazy, struct } from "../../model/index.ts";
import { nameCell } from "../columns.ts";
import { followedResource } from "../kind.ts";
import { podSelectorCell } from "../parts/label-selector.ts";
import { kubernetesNetworkPolicyFields } from "./kubernetes-network-policy.ts";
import { stagedAction } from "./policy-fields.ts";

export const stagedKubernetesNetworkPolicySpec = lazy(() =>
  struct({ stagedAction: stagedAction(), ...kubernetesNetworkPolicyFields() }),
);

export const stagedKubernetesNetworkPolicy = followedResource("StagedKubernetesNetworkPolicy", {
  carries: "optional",
  names: [
    "stagedkubernetesnetworkpolicy",
    "stagedkubernetesnetworkpolicies",
    "stagedkubernetespolicy",
    "sknp",
    "stagedkubernetespolicies",
    "skpol",
    "skpols",
  ],
  columns: { ps: [nameCell], wide: [nameCell, podSelectorCell] },
  schema: { spec: stagedKubernetesNetworkPolicySpec },
  newGroup: { shortNames: ["sknp"] },
});
