// StagedKubernetesNetworkPolicy: converted as the Kubernetes policy it stages. Stricter than that one: a rule that cannot
// be converted takes the whole policy with it.
import { FieldError, stagedKubernetesNetworkPolicySpec } from "../../model/index.ts";
import type { Warning } from "../processor/converted.ts";
import type { Processor } from "../processor/processor.ts";
import { createSimpleProcessor } from "../processor/simple-processor.ts";
import { kubernetesPolicySpec } from "./kubernetes-policy.ts";
import { convertPolicy, stagedDeletion } from "./policy.ts";

export function createStagedKubernetesNetworkPolicyProcessor(): Processor {
  return createSimpleProcessor({
    kind: "StagedKubernetesNetworkPolicy",
    schema: stagedKubernetesNetworkPolicySpec,
    key: ({ namespace, name }) => ({ is: "Policy", kind: "StagedKubernetesNetworkPolicy", namespace, name }),
    convert: ({ spec }, { namespace }) => {
      const { stagedAction, ...kubernetesSpec } = spec;
      if (stagedAction === "Delete") return stagedDeletion;
      const { spec: converted, warnings, hasDroppedRule } = kubernetesPolicySpec(kubernetesSpec);
      if (hasDroppedRule) throw firstDropped(warnings);
      return convertPolicy({ spec: converted, namespace, stagedAction, warnings });
    },
  });
}

/** The original deletes such a policy without its revision, as one that cannot be read. */
function firstDropped(warnings: readonly Warning[]): FieldError {
  const { field = "spec", rule = "must be convertible" } = warnings.find(({ effect }) => effect === "dropped") ?? {};
  return new FieldError(field, rule);
}
