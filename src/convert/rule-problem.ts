// What the validation filter rejects in a policy or profile's rules, as clients would read them. The fields named are
// those that the user wrote.
import { type NumberOrText, selectorProblem, type V1Rule } from "../model/index.ts";
import type { Warning } from "./converted.ts";

export type RuleProblem = Omit<Warning, "effect">;

const protocols = new Set<NumberOrText>(["tcp", "udp", "icmp", "icmpv6", "sctp", "udplite"]);
const protocolsWithPorts = new Set<NumberOrText>(["tcp", "udp", "sctp", 6, 17, 132]);

/** The first rule that breaks a rule; undefined: all are good. `field` is that of the list. */
export function rulesProblem(rules: readonly V1Rule[], field: string): RuleProblem | undefined {
  for (const [at, rule] of rules.entries()) {
    const problem = ruleProblem(rule, `${field}[${at}]`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function ruleProblem(rule: V1Rule, at: string): RuleProblem | undefined {
  return scalarProblem(rule, at) ?? selectorsProblem(rule, at) ?? portsProblem(rule, at);
}

function scalarProblem(rule: V1Rule, at: string): RuleProblem | undefined {
  if (rule.ip_version !== undefined && rule.ip_version !== 4 && rule.ip_version !== 6) {
    return { field: `${at}.ipVersion`, rule: "must be 4 or 6" };
  }
  const limits: [number | undefined, string, number][] = [
    [rule.icmp_type, "icmp.type", 254],
    [rule.icmp_code, "icmp.code", 255],
    [rule["!icmp_type"], "notICMP.type", 254],
    [rule["!icmp_code"], "notICMP.code", 255],
  ];
  for (const [value, name, max] of limits) {
    if (value !== undefined && (value < 0 || value > max)) {
      return { field: `${at}.${name}`, rule: `must be from 0 to ${max}` };
    }
  }
  const named: [NumberOrText | undefined, string][] = [
    [rule.protocol, "protocol"],
    [rule["!protocol"], "notProtocol"],
  ];
  for (const [value, name] of named) {
    if (value === 0 || (typeof value === "string" && !protocols.has(value))) {
      return {
        field: `${at}.${name}`,
        rule: "must be TCP, UDP, ICMP, ICMPv6, SCTP, UDPLite or a number from 1 to 255",
      };
    }
  }
  return undefined;
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

function selectorsProblem(rule: V1Rule, at: string): RuleProblem | undefined {
  for (const [name, field] of selectorFields) {
    const text = rule[name];
    const why = text === undefined || text === "" ? undefined : selectorProblem(text);
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

function portsProblem(rule: V1Rule, at: string): RuleProblem | undefined {
  for (const [name, field] of portFields) {
    for (const [index, port] of (rule[name] ?? []).entries()) {
      const where = `${at}.${field}[${index}]`;
      const isNamed = typeof port === "string" && !port.includes(":");
      if (isNamed && !isPortName(port)) {
        return { field: where, rule: "must be a port name: up to 15 of a-z, 0-9 and inner -, at least one letter" };
      }
      if (!isNamed && (port === 0 || (typeof port === "string" && port.startsWith("0:")))) {
        return { field: where, rule: "must not include port 0" };
      }
      if (rule.protocol === undefined && !isNamed) {
        return { field: where, rule: "a port number needs a protocol" };
      }
      if (rule.protocol !== undefined && !protocolsWithPorts.has(rule.protocol)) {
        return { field: where, rule: "ports need protocol TCP, UDP or SCTP" };
      }
    }
  }
  return undefined;
}

/** Kubernetes' port names. */
export function isPortName(name: string): boolean {
  return /^[a-z0-9-]{1,15}$/.test(name) && /[a-z]/.test(name) && !/^-|-$|--/.test(name);
}
