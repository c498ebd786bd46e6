// ClusterNetworkPolicies of policy.networking.k8s.io, the cluster administrator's policies: turned into Calico's global
// ones in two tiers of their own, then into what clients read.
import {
  type ClusterNetworkPolicySpec,
  clusterNetworkPolicySpec,
  type GlobalNetworkPolicySpec,
} from "../../kinds/index.ts";
import { cleanJson, member, readSchema, recordOf } from "../../model/index.ts";
import { readMetadata } from "../object/kubernetes-metadata.ts";
import { checkUid } from "../object/uid.ts";
import { convertPolicy } from "../policy/policy.ts";
import { createKeyedProcessor } from "../processor/keyed-processor.ts";
import {
  absent,
  type Converted,
  type FieldProblem,
  type Processor,
  refused,
  type Warning,
} from "../processor/processor.ts";
import { convertClusterRules } from "./cluster-network-policy-rule.ts";
import { namespaceSelectorText, podSelectorText } from "./kubernetes-selector.ts";

const tiers: { readonly [tier: string]: string } = { Admin: "kube-admin", Baseline: "kube-baseline" };

export function createClusterNetworkPolicyProcessor(): Processor {
  return createKeyedProcessor({
    kind: "ClusterNetworkPolicy",
    key: ({ name }) => ({ is: "Policy", kind: "KubernetesClusterNetworkPolicy", namespace: "", name }),
    convert,
  });
}

function convert(value: unknown): Converted<string> {
  const object = recordOf(value, "");
  checkUid(readMetadata(object).uid);
  const given = readSchema(clusterNetworkPolicySpec, cleanJson(member(object, "spec") ?? {}, "spec"), "spec");
  const tier = Object.hasOwn(tiers, given.tier ?? "") ? tiers[given.tier ?? ""] : undefined;
  if (tier === undefined) return meaningless({ field: "spec.tier", rule: "must be Admin or Baseline" });
  const subject = selectorsOf(given.subject);
  if (subject === undefined) return meaningless({ field: "spec.subject", rule: "must have namespaces or pods" });
  const warnings: Warning[] = [];
  const ingress = convertClusterRules({ rules: given.ingress ?? [], direction: "ingress", warnings });
  const egress = convertClusterRules({ rules: given.egress ?? [], direction: "egress", warnings });
  // These tiers pass on what no rule matches, so a direction without rules has nothing to say.
  const types = [...(ingress.length > 0 ? ["Ingress"] : []), ...(egress.length > 0 ? ["Egress"] : [])];
  const spec: GlobalNetworkPolicySpec = { tier, order: given.priority ?? 0, ...subject, ingress, egress, types };
  return convertPolicy({ spec, namespace: "", warnings });
}

/** The original sends a deletion for it, not an invalid value. */
function meaningless(problem: FieldProblem): Converted<string> {
  return { ...absent(problem.rule), warnings: [refused(problem)] };
}

function selectorsOf(
  subject: ClusterNetworkPolicySpec["subject"],
): { namespaceSelector: string; selector: string } | undefined {
  if (subject?.namespaces !== undefined) {
    return { namespaceSelector: namespaceSelectorText(subject.namespaces), selector: podSelectorText(undefined) };
  }
  if (subject?.pods === undefined) return undefined;
  return {
    namespaceSelector: namespaceSelectorText(subject.pods.namespaceSelector ?? {}),
    selector: podSelectorText(subject.pods.podSelector),
  };
}
