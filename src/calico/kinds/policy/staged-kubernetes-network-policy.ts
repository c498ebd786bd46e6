// StagedKubernetesNetworkPolicy: a Kubernetes NetworkPolicy's spec, staged.

import { kept, lazy, type SchemaType, struct } from "../../model/index.ts";
import type { Problem } from "../checks/check.ts";
import { strictMetadataProblems } from "../checks/metadata.ts";
import { nameCell } from "../columns.ts";
import { followedResource, forSpec, type SpecObject } from "../kind.ts";
import { labelSelector, podSelectorCell } from "../parts/label-selector.ts";
import { kubernetesNetworkPolicyFields } from "./kubernetes-network-policy.ts";
import { stagedDeleteProblems } from "./policy-checks.ts";
import { stagedAction } from "./policy-fields.ts";

export const stagedKubernetesNetworkPolicySpec = lazy(() =>
  // It is written even where it selects everything.
  struct({ stagedAction: stagedAction(), ...kubernetesNetworkPolicyFields(), podSelector: kept(labelSelector) }),
);

type Spec = SchemaType<typeof stagedKubernetesNetworkPolicySpec>;

function* wholeChecks({ metadata, spec }: SpecObject<Spec>): Generator<Problem> {
  yield* strictMetadataProblems(metadata, {});
  yield* stagedDeleteProblems(spec, {
    specName: "StagedKubernetesNetworkPolicySpec",
    value: JSON.stringify(spec),
    except: "",
    besides: ["policyTypes"],
  });
}

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
  wholeChecks: forSpec(wholeChecks),
});
