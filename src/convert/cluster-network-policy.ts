// ClusterNetworkPolicies of policy.networking.k8s.io, the cluster administrator's policies: turned into Calico's global
// ones in two tiers of their own, then into what clients read.
import {
  type ClusterNetworkPolicySpec,
  cleanJson,
  clusterNetworkPolicySpec,
  FieldError,
  type GlobalNetworkPolicySpec,
  keyToPath,
  member,
  readSchema,
  recordOf,
} from "../model/index.ts";
import { attempt } from "./attempt.ts";
import { convertClusterRules } from "./cluster-network-policy-rule.ts";
import { absent, type Converted, deletion, type Warning } from "./converted.ts";
import { namespaceSelectorText, podSelectorText } from "./kubernetes-selector.ts";
import { convertPolicy } from "./policy.ts";
import { objectName, type Processor, type ProcessorId } from "./processor.ts";
import { keyless, toOutput, unreadable } from "./simple-processor.ts";
import { requireUid } from "./uid.ts";
import { readMetadata } from "./whole-object.ts";

const tiers: { readonly [tier: string]: string } = { Admin: "kube-admin", Baseline: "kube-baseline" };

const pathOf = ({ name }: ProcessorId) =>
  keyToPath({ is: "Policy", kind: "KubernetesClusterNetworkPolicy", namespace: "", name });

export function createClusterNetworkPolicyProcessor(): Processor {
  return {
    set: (id, revision, value) => {
      const object = objectName("ClusterNetworkPolicy", id);
      const path = pathOf(id);
      if (path === undefined) return keyless(object);
      const warnings: Warning[] = [];
      const converted = attempt(() => convert(value, warnings));
      if (converted instanceof FieldError) return unreadable(object, [deletion(path)], converted);
      const output = toOutput(converted, { object, path, revision, v3ResourceVersion: "" });
      return { ...output, problems: [...warnings.map((warning) => ({ object, ...warning })), ...output.problems] };
    },
    delete: (id) => {
      const path = pathOf(id);
      return { kvs: path === undefined ? [] : [deletion(path)], problems: [] };
    },
  };
}

function convert(value: unknown, warnings: Warning[]): Converted<string> {
  const object = recordOf(value, "");
  requireUid(readMetadata(object).uid);
  const given = readSchema(clusterNetworkPolicySpec, cleanJson(member(object, "spec") ?? {}, "spec"), "spec");
  const tier = Object.hasOwn(tiers, given.tier ?? "") ? tiers[given.tier ?? ""] : undefined;
  if (tier === undefined) {
    warnings.push({ field: "spec.tier", rule: "must be Admin or Baseline", effect: "deleted" });
    return absent("its tier is not known");
  }
  const subject = selectorsOf(given.subject);
  if (subject === undefined) {
    warnings.push({ field: "spec.subject", rule: "must have namespaces or pods", effect: "deleted" });
    return absent("it is about nothing");
  }
  const ingress = convertClusterRules({ rules: given.ingress ?? [], direction: "ingress", warnings });
  const egress = convertClusterRules({ rules: given.egress ?? [], direction: "egress", warnings });
  // These tiers pass on what no rule matches, so a direction without rules has nothing to say.
  const types = [...(ingress.length > 0 ? ["Ingress"] : []), ...(egress.length > 0 ? ["Egress"] : [])];
  const spec: GlobalNetworkPolicySpec = { tier, order: given.priority ?? 0, ...subject, ingress, egress, types };
  return convertPolicy({ spec, namespace: "" });
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
