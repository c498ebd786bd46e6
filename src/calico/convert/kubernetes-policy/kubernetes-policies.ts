// Kubernetes' NetworkPolicies and the staged ones: turned into Calico's, then into what clients read.
import { kubernetesNetworkPolicySpec, stagedKubernetesNetworkPolicySpec } from "../../kinds/index.ts";
import { cleanJson, FieldError, member, readSchema, recordOf } from "../../model/index.ts";
import { readMetadata } from "../object/kubernetes-metadata.ts";
import { checkUid } from "../object/uid.ts";
import { convertPolicy, stagedDeletion } from "../policy/policy.ts";
import { createKeyedProcessor, createResourceProcessor } from "../processor/keyed-processor.ts";
import type { Converted, Processor, Warning } from "../processor/processor.ts";
import { kubernetesPolicySpec } from "./kubernetes-policy-spec.ts";

/**
 * A rule that cannot be converted is left out and named, and the rest is sent: that is what the original's list shows (its
 * watch stalls over it).
 */
export function createKubernetesNetworkPolicyProcessor(): Processor {
  return createKeyedProcessor({
    kind: "NetworkPolicy.networking.k8s.io",
    key: ({ namespace, name }) => ({ is: "Policy", kind: "KubernetesNetworkPolicy", namespace, name }),
    convert: (value, { namespace }) => convert(value, namespace),
  });
}

function convert(value: unknown, namespace: string): Converted<string> {
  const object = recordOf(value, "");
  checkUid(readMetadata(object).uid);
  const given = cleanJson(member(object, "spec") ?? {}, "spec");
  const { spec, warnings } = kubernetesPolicySpec(readSchema(kubernetesNetworkPolicySpec, given, "spec"));
  return convertPolicy({ spec, namespace, warnings });
}

/** Converted as the Kubernetes policy it stages, but stricter: a rule that cannot be converted takes the whole policy with it. */
export function createStagedKubernetesNetworkPolicyProcessor(): Processor {
  return createResourceProcessor({
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
