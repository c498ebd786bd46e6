// What the validation filter rejects in a profile sent whole: its rules are held to stricter rules than a policy's,
// because the original checks them as the user wrote them.
import {
  type EntityRule,
  isMasked,
  type NumberOrText,
  type ProfileSpec,
  parseCidr,
  type Rule,
  selectorProblem,
} from "../model/index.ts";
import type { Warning } from "./converted.ts";
import { isDnsSubdomain, isLabelValue, isQualifiedName } from "./name-rules.ts";
import { isPortName } from "./rule-problem.ts";

const protocols = ["TCP", "UDP", "ICMP", "ICMPv6", "SCTP", "UDPLite"];
const protocolsWithPorts: readonly NumberOrText[] = ["TCP", "UDP", "SCTP", 6, 17, 132];

const bad = (field: string, rule: string): Warning => ({ field, rule, effect: "deleted" });

/** Undefined: all is good. */
export function profileSpecProblem({
  labelsToApply = {},
  ingress = [],
  egress = [],
}: ProfileSpec): Warning | undefined {
  for (const [key, value] of Object.entries(labelsToApply)) {
    const field = `spec.labelsToApply[${JSON.stringify(key)}]`;
    if (!isQualifiedName(key)) return bad(field, "must have a qualified name for its key");
    if (!isLabelValue(value)) return bad(field, "must be a label value of up to 63 characters");
  }
  for (const [direction, rules] of Object.entries({ ingress, egress })) {
    for (const [at, rule] of rules.entries()) {
      const problem = ruleProblem(rule, `spec.${direction}[${at}]`);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function ruleProblem(rule: Rule, at: string): Warning | undefined {
  const limits: [number | undefined, string, number][] = [
    [rule.icmp?.type, "icmp.type", 254],
    [rule.icmp?.code, "icmp.code", 255],
    [rule.notICMP?.type, "notICMP.type", 254],
    [rule.notICMP?.code, "notICMP.code", 255],
  ];
  for (const [value, name, max] of limits) {
    if (value !== undefined && (value < 0 || value > max)) return bad(`${at}.${name}`, `must be from 0 to ${max}`);
  }
  for (const name of ["protocol", "notProtocol"] as const) {
    const value = rule[name];
    if (value === 0 || (typeof value === "string" && !protocols.includes(value))) {
      return bad(`${at}.${name}`, `must be ${protocols.join(", ")} or a number from 1 to 255`);
    }
  }
  return (
    netsProblem(rule, at) ??
    entityProblem(rule.source ?? {}, `${at}.source`, rule.protocol) ??
    entityProblem(rule.destination ?? {}, `${at}.destination`, rule.protocol) ??
    httpProblem(rule, at) ??
    annotationsProblem(rule, at)
  );
}

/** Networks are masked, of one family in a rule, and of the rule's own where it names one. */
function netsProblem(rule: Rule, at: string): Warning | undefined {
  let version = rule.ipVersion;
  for (const side of ["source", "destination"] as const) {
    for (const name of ["nets", "notNets"] as const) {
      for (const [index, text] of (rule[side]?.[name] ?? []).entries()) {
        const field = `${at}.${side}.${name}[${index}]`;
        const cidr = parseCidr(text);
        if (cidr === undefined || !isMasked(cidr)) return bad(field, "must be a network without host bits");
        if (name === "notNets" && cidr.prefixLength === 0) return bad(field, "must not be every address");
        version ??= cidr.ip.version;
        if (version !== cidr.ip.version) return bad(field, "must be of the same IP version as the rest of the rule");
      }
    }
  }
  return undefined;
}

function entityProblem(entity: EntityRule, at: string, protocol: NumberOrText | undefined): Warning | undefined {
  const selectors: [string | undefined, string][] = [
    [entity.selector, "selector"],
    [entity.notSelector, "notSelector"],
    [entity.namespaceSelector, "namespaceSelector"],
    [entity.serviceAccounts?.selector, "serviceAccounts.selector"],
  ];
  for (const [text, name] of selectors) {
    const why = text === undefined || text === "" ? undefined : selectorProblem(text);
    if (why !== undefined) return bad(`${at}.${name}`, `must be a selector: ${why}`);
  }
  const namespaces = entity.namespaceSelector?.replaceAll(/[ \t]/g, "") ?? "";
  if (namespaces.includes("global(") && namespaces !== "global()") {
    return bad(`${at}.namespaceSelector`, "global() must stand alone");
  }
  for (const name of ["name", "namespace"] as const) {
    const text = entity.services?.[name] ?? "";
    if (text !== "" && !isDnsSubdomain(text)) return bad(`${at}.services.${name}`, "must be a DNS name");
  }
  return portsProblem(entity, at, protocol);
}

function portsProblem(entity: EntityRule, at: string, protocol: NumberOrText | undefined): Warning | undefined {
  for (const name of ["ports", "notPorts"] as const) {
    for (const [index, port] of (entity[name] ?? []).entries()) {
      const field = `${at}.${name}[${index}]`;
      const isNamed = typeof port === "string" && !port.includes(":");
      if (isNamed && !isPortName(port)) return bad(field, "must be a port name of up to 15 characters");
      if (!isNamed && (port === 0 || (typeof port === "string" && port.startsWith("0:")))) {
        return bad(field, "must not include port 0");
      }
      if (protocol === undefined && !isNamed) return bad(field, "a port number needs a protocol");
      if (protocol !== undefined && !protocolsWithPorts.includes(protocol)) {
        return bad(field, "ports need protocol TCP, UDP or SCTP");
      }
    }
  }
  return undefined;
}

function httpProblem({ http }: Rule, at: string): Warning | undefined {
  const methods = http?.methods ?? [];
  if (new Set(methods).size < methods.length) return bad(`${at}.http.methods`, "must not repeat a method");
  for (const [index, { exact = "", prefix = "" }] of (http?.paths ?? []).entries()) {
    const field = `${at}.http.paths[${index}]`;
    if ((exact === "") === (prefix === "")) return bad(field, "must have either exact or prefix");
    if (!/^\/[^? #]*$/.test(exact + prefix)) return bad(field, "must begin with / and have no ?, # or blank");
  }
  return undefined;
}

function annotationsProblem({ metadata }: Rule, at: string): Warning | undefined {
  for (const key of Object.keys(metadata?.annotations ?? {})) {
    if (isQualifiedName(key.toLowerCase())) continue;
    return bad(`${at}.metadata.annotations[${JSON.stringify(key)}]`, "must have a qualified name for its key");
  }
  return undefined;
}
