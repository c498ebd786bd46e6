// What is demanded of a rule as the user wrote it, in policies and profiles.
import { isMasked, parseCidr } from "../../../base/lib/index.ts";
import { type NumberOrText, protocolNames } from "../../model/index.ts";
import { type At, type Check, each, fields, filled, given, type Problem, printGo, tagReason } from "../checks/check.ts";
import { annotationProblems } from "../checks/metadata.ts";
import { isPortName, name, net, selector, within } from "../checks/tags.ts";
import type { EntityRule, Rule } from "./rule.ts";

type Icmp = NonNullable<Rule["icmp"]>;
type Http = NonNullable<Rule["http"]>;

const icmp = fields<Icmp>({ type: given(...within(0, 254)), code: given(...within(0, 255)) });

/** Names are those that users write, in their letters. */
export const protocol: Check<NumberOrText> = function* (value, { path }) {
  const isText = typeof value === "string";
  if (value === undefined || (isText ? protocolNames.includes(value) : value !== 0)) return;
  yield {
    field: path,
    rule: `must be ${protocolNames.join(", ")} or a number from 1 to 255`,
    name: "Protocol",
    value: String(value),
    reason: isText ? "protocol name invalid" : "protocol number invalid",
  };
};

/** Of an endpoint's port, which is of TCP, UDP or SCTP; `owner` is the port's type in Go. */
export function* withoutPorts(
  by: NumberOrText | undefined,
  { path, owner }: { readonly path: string; readonly owner: string },
): Generator<Problem> {
  if (by !== undefined && ["TCP", "UDP", "SCTP", "tcp", "udp", "sctp", 6, 17, 132].includes(by)) return;
  yield {
    field: `${path}.protocol`,
    rule: "must be TCP, UDP or SCTP, by name",
    name: `${owner}.Protocol`,
    value: String(by ?? 0),
    reason: `${owner} protocol does not support ports.`,
  };
}

/** Of a port number or a range. */
function startsAtOne(port: NumberOrText): boolean {
  return typeof port === "number" ? port !== 0 : !port.startsWith("0:");
}

const isNamed = (port: NumberOrText) => typeof port === "string" && !port.includes(":");

/** A port number, a range or a name. */
export const port: Check<NumberOrText> = function* (value, { path }) {
  if (value === undefined) return;
  if (isNamed(value)) {
    if (isPortName(String(value))) return;
    yield {
      field: path,
      rule: "must be a port name: up to 15 of a-z, 0-9 and inner -, at least one letter",
      name: "PortName",
      value: String(value),
      reason: tagReason("PortName", "portName"),
    };
  } else if (!startsAtOne(value)) {
    yield {
      field: path,
      rule: "must not include port 0",
      name: "Port",
      value: String(value),
      reason: "port range invalid, port number must be between 1 and 65535",
    };
  }
};

const entity = fields<EntityRule>(
  {
    nets: each(filled(net)),
    selector: filled(selector),
    namespaceSelector: filled(selector),
    services: fields<NonNullable<EntityRule["services"]>>({ name: filled(name), namespace: filled(name) }),
    ports: each(port),
    notNets: each(filled(net)),
    notSelector: filled(selector),
    notPorts: each(port),
    serviceAccounts: fields<NonNullable<EntityRule["serviceAccounts"]>>({ selector: filled(selector) }),
  },
  function* ({ namespaceSelector = "" }, { path }) {
    const bare = namespaceSelector.replaceAll(/[ \t]/g, "");
    if (!bare.includes("global(") || bare === "global()") return;
    yield {
      field: `${path}.namespaceSelector`,
      rule: "global() must stand alone",
      name: "NamespaceSelector field",
      value: namespaceSelector,
      reason: "global() cannot be combined with other selectors",
    };
  },
);

function* httpProblems({ methods = [], paths = [] }: Http, { path }: At): Generator<Problem> {
  if (new Set(methods).size < methods.length) {
    const value = printGo(methods);
    yield {
      field: `${path}.methods`,
      rule: "must not repeat a method",
      name: "Methods",
      value,
      reason: `Invalid methods (duplicates): ${value}`,
    };
  }
  // The first only, as there.
  for (const problem of pathProblems(paths, path)) return yield problem;
}

function* pathProblems(paths: NonNullable<Http["paths"]>, path: string): Generator<Problem> {
  const value = printGo(paths.map(({ exact = "", prefix = "" }) => ({ exact, prefix })));
  for (const [index, { exact = "", prefix = "" }] of paths.entries()) {
    const say = (rule: string, reason: string) => ({
      field: `${path}.paths[${index}]`,
      rule,
      name: "Paths",
      value,
      reason,
    });
    const either = "must have either exact or prefix";
    if (exact !== "" && prefix !== "") {
      yield say(either, "Invalid path match. Both 'exact' and 'prefix' are set");
    } else if (exact === "" && prefix === "") {
      yield say(either, "Invalid path match. Either 'exact' or 'prefix' must be set");
    } else if (!/^\/[^? #]*$/.test(exact + prefix)) {
      const reason = `Invalid path ${exact}${prefix}. (must start with \`/\` and not contain \`?\` or \`#\``;
      yield say("must begin with / and have no ?, # or blank", reason);
    }
  }
}

const sides = ["source", "destination"] as const;
const sideNames = { source: "Source", destination: "Destination" };
const withPorts: readonly NumberOrText[] = ["tcp", "udp", "sctp", 6, 17, 132];

/** Ports go with a protocol that has them. */
function* portProblems(rule: Rule, at: At): Generator<Problem> {
  const by = typeof rule.protocol === "string" ? rule.protocol.toLowerCase() : rule.protocol;
  if (by !== undefined && withPorts.includes(by)) return;
  for (const side of sides) {
    for (const list of ["ports", "notPorts"] as const) {
      const ports = rule[side]?.[list] ?? [];
      const isBroken = by === undefined ? !ports.every(isNamed) : ports.length > 0;
      if (!isBroken) continue;
      const first = by === undefined ? ports.findIndex((one) => !isNamed(one)) : 0;
      const condition = by === undefined ? "with numeric port or port range" : "that specify ports";
      yield {
        field: `${at.path}.${side}.${list}[${first}]`,
        rule: by === undefined ? "a port number needs a protocol" : "ports need protocol TCP, UDP or SCTP",
        name: `${sideNames[side]}.${list === "ports" ? "Ports" : "NotPorts"}`,
        value: printGo(ports),
        reason: `rules ${condition} must set protocol to TCP or UDP or SCTP`,
      };
    }
  }
}

/** Networks have a mask, are of one family in a rule, and of the rule's own where it names one. */
function* netProblems(rule: Rule, at: At): Generator<Problem> {
  const seen = new Set<number>();
  for (const side of sides) {
    for (const list of ["nets", "notNets"] as const) {
      const nets = rule[side]?.[list] ?? [];
      const said = {
        name: `${sideNames[side]}.${list === "nets" ? "Nets" : "NotNets"}`,
        field: `${at.path}.${side}.${list}`,
      };
      const here = new Set<number>();
      for (const [index, value] of nets.entries()) {
        const cidr = parseCidr(value);
        const one = { ...said, field: `${said.field}[${index}]`, value };
        if (cidr === undefined) {
          yield { ...one, rule: "must be a network without host bits", reason: "invalid CIDR" };
          continue;
        }
        here.add(cidr.ip.version);
        if (list === "notNets" && cidr.prefixLength === 0 && isMasked(cidr)) {
          const reason = "catch-all CIDR in negation creates logical contradiction (matches no traffic)";
          yield { ...one, rule: "must not be every address", reason };
        }
      }
      const sameVersion = "must be of the same IP version as the rest of the rule";
      const differs = [...here].some((version) => rule.ipVersion !== undefined && rule.ipVersion !== version);
      if (differs) {
        const value = printGo(rule.source?.nets ?? []); // the original shows these, whichever list it is about
        yield { ...said, rule: sameVersion, value, reason: "rule IP version doesn't match CIDR version" };
      }
      const isMixed = here.size > 0 && new Set([...here, ...seen]).size > 1;
      for (const version of here) seen.add(version);
      if (isMixed) {
        const reason = "rule contains both IPv4 and IPv6 CIDRs";
        yield { ...said, rule: sameVersion, value: printGo(nets), reason };
      }
    }
  }
}

export const ruleChecks: Check<Rule> = fields<Rule>(
  {
    protocol,
    icmp,
    notProtocol: protocol,
    notICMP: icmp,
    source: entity,
    destination: entity,
    http: fields<Http>({}, httpProblems),
    metadata: fields<NonNullable<Rule["metadata"]>>({}, ({ annotations = {} }, { path }) =>
      annotationProblems(annotations, `${path}.annotations`),
    ),
  },
  function* (rule, at) {
    yield* portProblems(rule, at);
    yield* netProblems(rule, at);
  },
);
