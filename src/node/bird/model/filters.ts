// BGPFilters: from the object's rules to checked conditions and operations, and the name of the function that holds them.
import { createHash } from "node:crypto";
import { bitsOf, parseCidr, parseRange, rangeText } from "../../../base/lib/index.ts";
import type { BgpFilterSpec } from "../../../calico/kinds/index.ts";
import {
  type Community,
  type FilterCondition,
  type FilterOperation,
  type FilterRule,
  highestPriority,
} from "./intent.ts";

type Rule = NonNullable<BgpFilterSpec["exportV4"]>[number];
type Operation = NonNullable<Rule["operations"]>[number];

export type Direction = "import" | "export";

/** A symbol of BIRD has at most 64 characters; 19 of them are ours. */
const mostNameLength = 45;

/** As the original names them. Undefined: the name has characters that no object's name has. */
export function filterSymbol(name: string, direction: Direction, family: 4 | 6): string | undefined {
  if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name)) return undefined;
  return `bgp_${shortened(name)}_${direction}FilterV${family}`;
}

function shortened(name: string): string {
  if (name.length <= mostNameLength) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 16).toUpperCase();
  return `${name.slice(0, mostNameLength - 17)}_${hash}`;
}

export function rulesOf(spec: BgpFilterSpec, direction: Direction, family: 4 | 6): readonly Rule[] {
  return spec[`${direction}V${family}`] ?? [];
}

/** A text: what is wrong with one of them, and then none of them counts. */
export function readRules(rules: readonly Rule[], family: 4 | 6): readonly FilterRule[] | string {
  const read: FilterRule[] = [];
  for (const [at, rule] of rules.entries()) {
    try {
      read.push(readRule(rule, family));
    } catch (error) {
      if (!(error instanceof BadRule)) throw error;
      return `rule ${at + 1}: ${error.message}`;
    }
  }
  return read;
}

class BadRule extends Error {}

function readRule(rule: Rule, family: 4 | 6): FilterRule {
  const { action } = rule;
  if (action !== "Accept" && action !== "Reject")
    throw new BadRule(`its action is ${quoted(action)}, not Accept or Reject`);
  return {
    conditions: [...conditionsOf(rule, family)],
    // BIRD throws a rejected route away, changes and all.
    operations: action === "Accept" ? (rule.operations ?? []).map(operationOf) : [],
    action: action === "Accept" ? "accept" : "reject",
  };
}

function* conditionsOf(rule: Rule, family: 4 | 6): Generator<FilterCondition> {
  const {
    cidr = "",
    source = "",
    interface: pattern = "",
    peerType = "",
    communities,
    asPathPrefix = [],
    priority,
  } = rule;
  if (peerType !== "") {
    if (peerType !== "iBGP" && peerType !== "eBGP") throw new BadRule(`its peerType is ${quoted(peerType)}`);
    yield { is: peerType === "iBGP" ? "internal" : "external" };
  }
  if (cidr !== "") yield netCondition(rule, cidr, family);
  if (source !== "") {
    if (source !== "RemotePeers") throw new BadRule(`its source is ${quoted(source)}`);
    yield { is: "learned from a peer" };
  }
  if (pattern !== "") {
    if (!isInterfacePattern(pattern)) throw new BadRule(`${quoted(pattern)} is no pattern of interfaces`);
    yield { is: "interface", pattern };
  }
  if (communities !== undefined) yield { is: "community", value: theCommunity(communities.values?.[0]) };
  if (asPathPrefix.length > 0) yield { is: "path starts", asNumbers: asPathPrefix };
  if (priority !== undefined) yield { is: "local preference", value: preferenceOf(priority) };
}

const operators = { Equal: "=", NotEqual: "!=", In: "~", NotIn: "!~" } as const;

function netCondition({ matchOperator = "", prefixLength }: Rule, cidr: string, family: 4 | 6): FilterCondition {
  const range = parseCidr(cidr) === undefined ? undefined : parseRange(cidr);
  if (range?.family !== family) throw new BadRule(`${quoted(cidr)} is no IPv${family} network`);
  if (!Object.hasOwn(operators, matchOperator)) throw new BadRule(`its matchOperator is ${quoted(matchOperator)}`);
  const operator = operators[matchOperator as keyof typeof operators]; // it is one of the table's own
  const net = { is: "net", operator, cidr: rangeText(range) } as const;
  if (prefixLength === undefined) return net;
  const { min = 0, max = bitsOf(family) } = prefixLength;
  const lengths = [Math.max(range.prefixLength, min), Math.min(bitsOf(family), max)] as const;
  const isOne = operator === "=" || operator === "!=";
  // BIRD refuses a range that ends before it begins, and with it the whole file: no network has such a length.
  const isEmpty = lengths[0] > lengths[1] || (isOne && lengths[0] !== range.prefixLength);
  if (isEmpty) return { is: operator.startsWith("!") ? "always" : "never" };
  return isOne ? net : { ...net, lengths };
}

/** As the API has it: letters, digits and wildcards, so that nothing can end BIRD's text. */
export function isInterfacePattern(pattern: string): boolean {
  return /^[a-zA-Z0-9_.*-]{1,15}$/.test(pattern);
}

function operationOf({ addCommunity, prependASPath, setPriority }: Operation): FilterOperation {
  if (addCommunity !== undefined) return { is: "add community", value: theCommunity(addCommunity.value) };
  if (prependASPath !== undefined) return { is: "prepend", asNumbers: prependASPath.prefix ?? [] };
  if (setPriority?.value !== undefined) return { is: "local preference", value: preferenceOf(setPriority.value) };
  throw new BadRule("an operation has no field that is known");
}

function preferenceOf(priority: number | bigint): number {
  const value = Number(priority);
  if (!Number.isInteger(value) || value < 1 || value > highestPriority - 1) {
    throw new BadRule(`priority ${priority} is not from 1 to ${highestPriority - 1}`);
  }
  return highestPriority - value;
}

function theCommunity(text: string | undefined): Community {
  const community = parseCommunity(text ?? "");
  if (community === undefined) throw new BadRule(`${quoted(text)} is no community`);
  return community;
}

/** a:b (16 bits each) or a:b:c (32 bits each). Undefined: neither. */
export function parseCommunity(text: string): Community | undefined {
  if (!/^\d{1,10}(:\d{1,10}){1,2}$/.test(text)) return undefined;
  const [first = 0, second = 0, third] = text.split(":").map(Number);
  const most = third === undefined ? 0xffff : 0xffffffff;
  if ([first, second, third ?? 0].some((part) => part > most)) return undefined;
  return third === undefined ? [first, second] : [first, second, third];
}

function quoted(text: unknown): string {
  return JSON.stringify(text ?? "");
}
