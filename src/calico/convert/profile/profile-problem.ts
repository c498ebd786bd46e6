// What the validation filter rejects in a profile sent whole: its rules are held to stricter rules than a policy's,
// because the original checks them as the user wrote them.
import { isMasked, parseCidr } from "../../../base/lib/index.ts";
import type { EntityRule, ProfileSpec, Rule } from "../../kinds/index.ts";
import { type NumberOrText, protocolNames, selectorProblem } from "../../model/index.ts";
import { annotationsProblem, isDnsName, labelsProblem } from "../object/name-rules.ts";
import { icmpProblem, portRule, protocolProblem } from "../policy/rule-checks.ts";
import type { FieldProblem } from "../processor/processor.ts";

/** Undefined: all is good. */
export function profileSpecProblem({
  labelsToApply = {},
  ingress = [],
  egress = [],
}: ProfileSpec): FieldProblem | undefined {
  const problem = labelsProblem(Object.entries(labelsToApply), "spec.labelsToApply");
  return problem ?? rulesProblem(ingress, "spec.ingress") ?? rulesProblem(egress, "spec.egress");
}

function rulesProblem(rules: readonly Rule[], field: string): FieldProblem | undefined {
  for (const [at, rule] of rules.entries()) {
    const problem = ruleProblem(rule, `${field}[${at}]`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function ruleProblem(rule: Rule, at: string): FieldProblem | undefined {
  const { icmp, notICMP, protocol, notProtocol } = rule;
  return (
    icmpProblem({ type: icmp?.type, code: icmp?.code }, `${at}.icmp`) ??
    icmpProblem({ type: notICMP?.type, code: notICMP?.code }, `${at}.notICMP`) ??
    protocolProblem(protocol, protocolNames, `${at}.protocol`) ??
    protocolProblem(notProtocol, protocolNames, `${at}.notProtocol`) ??
    netsProblem(rule, at) ??
    entityProblem(rule.source ?? {}, `${at}.source`, protocol) ??
    entityProblem(rule.destination ?? {}, `${at}.destination`, protocol) ??
    httpProblem(rule, at) ??
    annotationsProblem(rule.metadata?.annotations ?? {}, `${at}.metadata.annotations`)
  );
}

/** Networks are masked, of one family in a rule, and of the rule's own where it names one. */
function netsProblem(rule: Rule, at: string): FieldProblem | undefined {
  let version = rule.ipVersion;
  for (const side of ["source", "destination"] as const) {
    for (const name of ["nets", "notNets"] as const) {
      for (const [index, text] of (rule[side]?.[name] ?? []).entries()) {
        const field = `${at}.${side}.${name}[${index}]`;
        const cidr = parseCidr(text);
        if (cidr === undefined || !isMasked(cidr)) return { field, rule: "must be a network without host bits" };
        if (name === "notNets" && cidr.prefixLength === 0) return { field, rule: "must not be every address" };
        version ??= cidr.ip.version;
        if (version !== cidr.ip.version)
          return { field, rule: "must be of the same IP version as the rest of the rule" };
      }
    }
  }
  return undefined;
}

function entityProblem(entity: EntityRule, at: string, protocol: NumberOrText | undefined): FieldProblem | undefined {
  const selectors: [string | undefined, string][] = [
    [entity.selector, "selector"],
    [entity.notSelector, "notSelector"],
    [entity.namespaceSelector, "namespaceSelector"],
    [entity.serviceAccounts?.selector, "serviceAccounts.selector"],
  ];
  for (const [text, name] of selectors) {
    const why = selectorProblem(text ?? "");
    if (why !== undefined) return { field: `${at}.${name}`, rule: `must be a selector: ${why}` };
  }
  const namespaces = entity.namespaceSelector?.replaceAll(/[ \t]/g, "") ?? "";
  if (namespaces.includes("global(") && namespaces !== "global()") {
    return { field: `${at}.namespaceSelector`, rule: "global() must stand alone" };
  }
  for (const name of ["name", "namespace"] as const) {
    const text = entity.services?.[name] ?? "";
    if (text !== "" && !isDnsName(text)) return { field: `${at}.services.${name}`, rule: "must be a DNS name" };
  }
  for (const name of ["ports", "notPorts"] as const) {
    for (const [index, port] of (entity[name] ?? []).entries()) {
      const broken = portRule(port, protocol);
      if (broken !== undefined) return { field: `${at}.${name}[${index}]`, rule: broken };
    }
  }
  return undefined;
}

function httpProblem({ http }: Rule, at: string): FieldProblem | undefined {
  const methods = http?.methods ?? [];
  if (new Set(methods).size < methods.length) return { field: `${at}.http.methods`, rule: "must not repeat a method" };
  for (const [index, { exact = "", prefix = "" }] of (http?.paths ?? []).entries()) {
    const field = `${at}.http.paths[${index}]`;
    if ((exact === "") === (prefix === "")) return { field, rule: "must have either exact or prefix" };
    if (!/^\/[^? #]*$/.test(exact + prefix)) return { field, rule: "must begin with / and have no ?, # or blank" };
  }
  return undefined;
}
