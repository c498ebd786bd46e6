// What the validation filter rejects in a policy or profile's rules, as clients would read them. The fields named are
// those that the user wrote.
import { protocolNames, selectorProblem, type V1Rule } from "../../model/index.ts";
import type { FieldProblem } from "../processor/processor.ts";
import { icmpProblem, portRule, protocolProblem } from "./rule-checks.ts";

/** The first rule that breaks a rule; undefined: all are good. `field` is that of the list. */
export function rulesProblem(rules: readonly V1Rule[], field: string): FieldProblem | undefined {
  for (const [at, rule] of rules.entries()) {
    const problem = ruleProblem(rule, `${field}[${at}]`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function ruleProblem(rule: V1Rule, at: string): FieldProblem | undefined {
  return scalarProblem(rule, at) ?? selectorsProblem(rule, at) ?? portsProblem(rule, at);
}

const protocols = protocolNames.map((name) => name.toLowerCase());

function scalarProblem(rule: V1Rule, at: string): FieldProblem | undefined {
  if (rule.ip_version !== undefined && rule.ip_version !== 4 && rule.ip_version !== 6) {
    return { field: `${at}.ipVersion`, rule: "must be 4 or 6" };
  }
  return (
    icmpProblem({ type: rule.icmp_type, code: rule.icmp_code }, `${at}.icmp`) ??
    icmpProblem({ type: rule["!icmp_type"], code: rule["!icmp_code"] }, `${at}.notICMP`) ??
    protocolProblem(rule.protocol, protocols, `${at}.protocol`) ??
    protocolProblem(rule["!protocol"], protocols, `${at}.notProtocol`)
  );
}

const selectorFields = [
  ["!src_selector", "source.notSelector"],
  ["!dst_selector", "destination.notSelector"],
  ["orig_src_selector", "source.selector"],
  ["orig_src_namespace_selector", "source.namespaceSelector"],
  ["orig_src_service_acct_selector", "source.serviceAccounts.selector"],
  ["orig_dst_selector", "destination.selector"],
  ["orig_dst_namespace_selector", "destination.namespaceSelector"],
  ["orig_dst_service_acct_selector", "destination.serviceAccounts.selector"],
  ["src_selector", "source"],
  ["dst_selector", "destination"],
] as const;

function selectorsProblem(rule: V1Rule, at: string): FieldProblem | undefined {
  for (const [name, field] of selectorFields) {
    const why = selectorProblem(rule[name] ?? "");
    if (why !== undefined) return { field: `${at}.${field}`, rule: `must be a selector: ${why}` };
  }
  return undefined;
}

const portFields = [
  ["src_ports", "source.ports"],
  ["!src_ports", "source.notPorts"],
  ["dst_ports", "destination.ports"],
  ["!dst_ports", "destination.notPorts"],
] as const;

function portsProblem(rule: V1Rule, at: string): FieldProblem | undefined {
  for (const [name, field] of portFields) {
    for (const [index, port] of (rule[name] ?? []).entries()) {
      const broken = portRule(port, rule.protocol);
      if (broken !== undefined) return { field: `${at}.${field}[${index}]`, rule: broken };
    }
  }
  return undefined;
}
