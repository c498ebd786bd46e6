// Kubernetes' NetworkPolicies: turned into Calico's, then into what clients read. A rule that cannot be converted is left
// out and named, and the rest is sent: that is what the original's list shows (its watch stalls over it).
import { cleanJson, kubernetesNetworkPolicySpec, member, readSchema, recordOf } from "../../model/index.ts";
import { readMetadata } from "../object/kubernetes-metadata.ts";
import { checkUid } from "../object/uid.ts";
import type { Converted } from "../processor/converted.ts";
import { createKeyedProcessor } from "../processor/keyed-processor.ts";
import type { Processor } from "../processor/processor.ts";
import { kubernetesPolicySpec } from "./kubernetes-policy.ts";
import { convertPolicy } from "./policy.ts";

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
