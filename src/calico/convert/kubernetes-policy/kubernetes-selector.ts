// Kubernetes' label selectors as texts of Calico's selector language. Policies print what comes of it, so each blank and
// quote is as the original writes it.
import type { LabelSelector } from "../../kinds/index.ts";

const isKubernetes = "projectcalico.org/orchestrator == 'k8s'";

/** Pods only: without the first term a selector of nothing would also mean host endpoints. */
export function podSelectorText(selector: LabelSelector | undefined): string {
  return [isKubernetes, ...terms(selector ?? {})].join(" && ");
}

/**
 * No selector is no restriction; a selector of nothing is every namespace. One whose operators are all unknown is no
 * restriction either, as in the original; the API server refuses it in all but staged policies.
 */
export function namespaceSelectorText(selector: LabelSelector | undefined): string {
  if (selector === undefined) return "";
  const { matchLabels = {}, matchExpressions = [] } = selector;
  if (Object.keys(matchLabels).length === 0 && matchExpressions.length === 0) return "all()";
  return terms(selector).join(" && ");
}

function terms({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string[] {
  const found = Object.keys(matchLabels)
    .sort()
    .map((key) => `${key} == '${matchLabels[key]}'`);
  for (const { key = "", operator, values = [] } of matchExpressions) {
    const list = values.join("', '");
    if (operator === "In") found.push(`${key} in { '${list}' }`);
    else if (operator === "NotIn") found.push(`${key} not in { '${list}' }`);
    else if (operator === "Exists") found.push(`has(${key})`);
    else if (operator === "DoesNotExist") found.push(`! has(${key})`);
  }
  return found;
}
