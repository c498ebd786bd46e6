// Kubernetes' label selectors as texts of Calico's selector language. Policies print what comes of it, so each blank and
// quote is as the original writes it.

export type LabelSelector = {
  readonly matchLabels?: { readonly [name: string]: string } | undefined;
  readonly matchExpressions?:
    | readonly {
        readonly key?: string | undefined;
        readonly operator?: string | undefined;
        readonly values?: readonly string[] | undefined;
      }[]
    | undefined;
};

const isKubernetes = "projectcalico.org/orchestrator == 'k8s'";

/** Pods only: without the first term a selector of nothing would also mean host endpoints. */
export function podSelectorText(selector: LabelSelector | undefined): string {
  return [isKubernetes, ...terms(selector ?? {})].join(" && ");
}

/** No selector is no restriction; a selector of nothing is every namespace. */
export function namespaceSelectorText(selector: LabelSelector | undefined): string {
  if (selector === undefined) return "";
  const found = terms(selector);
  return found.length === 0 ? "all()" : found.join(" && ");
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
