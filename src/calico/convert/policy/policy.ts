// A v3 policy to the policy that clients read, and what the validation filter says of it. Kubernetes' own policies, turned
// into v3 ones, come this way too.
import type { GlobalNetworkPolicySpec } from "../../kinds/index.ts";
import { selectorProblem, type V1Policy, v1Policy } from "../../model/index.ts";
import { absent, type Converted, type FieldProblem, invalid, type Warning } from "../processor/processor.ts";
import { convertRules } from "./rule.ts";
import { rulesProblem } from "./rule-problem.ts";
import { appendPrefixed, literalWarning, namespacePrefix, replaceAll, serviceAccountPrefix } from "./rule-selector.ts";

/** Global policies have every field; namespaced ones lack some. */
export type PolicySpec = GlobalNetworkPolicySpec;

export type PolicyInput = {
  readonly spec: PolicySpec;
  /** "" for a global policy. */
  readonly namespace: string;
  readonly stagedAction?: string | undefined;
  /** What is known about it already. */
  readonly warnings?: readonly Warning[];
};

/** The policy would be deleted, were it not staged: there is nothing to show. */
export const stagedDeletion = absent("a staged policy with action Delete is not sent");

/** The policy's JSON. "invalid" is what the validation filter answers: sent without value, but with its revision. */
export function convertPolicy(input: PolicyInput): Converted<string> {
  if (input.stagedAction === "Delete") return stagedDeletion;
  const warnings = [...(input.warnings ?? [])];
  const policy = toV1Policy(input, warnings);
  const problem = policyProblem(policy);
  if (problem !== undefined) return invalid(problem);
  return { is: "value", value: v1Policy.write(policy), warnings };
}

function toV1Policy({ spec, namespace, stagedAction }: PolicyInput, warnings: Warning[]): V1Policy {
  const isGlobal = namespace === "";
  return {
    namespace,
    tier: spec.tier === undefined || spec.tier === "" ? "default" : spec.tier,
    order: spec.order,
    inbound_rules: convertRules(spec.ingress, { namespace, field: "spec.ingress", warnings }),
    outbound_rules: convertRules(spec.egress, { namespace, field: "spec.egress", warnings }),
    selector: isGlobal ? globalSelector(spec, warnings) : namespacedSelector(spec, namespace, warnings),
    untracked: isGlobal && spec.doNotTrack,
    pre_dnat: isGlobal && spec.preDNAT,
    apply_on_forward: isGlobal && spec.applyOnForward,
    types: (spec.types ?? []).map((type) => type.toLowerCase()),
    performance_hints: spec.performanceHints,
    staged_action: stagedAction,
  };
}

function namespacedSelector(spec: PolicySpec, namespace: string, warnings: Warning[]): string {
  const own = `projectcalico.org/namespace == '${namespace}'`;
  const selector = spec.selector ?? "";
  const limited = selector === "" ? own : `(${selector}) && ${own}`;
  return appendPrefixed(limited, accountsOf(spec), serviceAccountPrefix, warnings);
}

function globalSelector(spec: PolicySpec, warnings: Warning[]): string {
  let selector = spec.selector ?? "";
  const namespaces = { text: spec.namespaceSelector ?? "", field: "spec.namespaceSelector" };
  const warn = () => warnings.push(literalWarning("spec.selector"));
  if (namespaces.text !== "") {
    selector = appendPrefixed(selector, namespaces, namespacePrefix, warnings);
    selector = replaceAll(selector, "all()", "has(projectcalico.org/namespace)", warn);
  }
  const accounts = accountsOf(spec);
  if (accounts.text !== "") {
    selector = appendPrefixed(selector, accounts, serviceAccountPrefix, warnings);
    selector = replaceAll(selector, "all()", "has(projectcalico.org/serviceaccount)", warn);
  }
  return selector;
}

function accountsOf(spec: PolicySpec): { text: string; field: string } {
  return { text: spec.serviceAccountSelector ?? "", field: "spec.serviceAccountSelector" };
}

function policyProblem(policy: V1Policy): FieldProblem | undefined {
  const why = selectorProblem(policy.selector);
  if (why !== undefined) return { field: "spec.selector", rule: `must be a selector: ${why}` };
  const hints = policy.performance_hints ?? [];
  if (new Set(hints).size < hints.length || hints.some((hint) => hint !== "AssumeNeededOnEveryNode")) {
    return { field: "spec.performanceHints", rule: "must be AssumeNeededOnEveryNode, once" };
  }
  return (
    rulesProblem(policy.inbound_rules ?? [], "spec.ingress") ?? rulesProblem(policy.outbound_rules ?? [], "spec.egress")
  );
}
