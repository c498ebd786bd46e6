// A rule as nft statements. One rule may become several lines: one for each family whose addresses it asks about, and one for each
// alternative that nft cannot say at once (ports by number or by name, a negated pair of ICMP type and code).
import type { AddressRange } from "../../../base/lib/index.ts";
import { rangeText } from "../../../base/lib/index.ts";
import type { PortRange, Rule, SetSpec, Side } from "../../../calico/policy/index.ts";
import { setName } from "./names.ts";

export type Verdicts = { readonly allow: string; readonly deny: string; readonly pass: string; readonly log: string };

/** Statements without a comment; none: the rule can never hold. */
export function renderRule(rule: Rule, verdicts: Verdicts): readonly string[] {
  return ruleMatches(rule).map((match) => (match === "" ? verdicts[rule.action] : `${match} ${verdicts[rule.action]}`));
}

/** What a packet has to be like, in as many lines as it takes. "" is any packet. */
export function ruleMatches(rule: Rule): readonly string[] {
  return familiesOf(rule).flatMap((family) => {
    const alternatives = product([
      [protocolMatch(rule, family)],
      icmpMatches(rule, family),
      sideMatches(rule.source, "s", family),
      sideMatches(rule.destination, "d", family),
    ]);
    return alternatives.map((parts) => parts.filter((part) => part !== "").join(" "));
  });
}

/** Undefined: one line serves both families. */
type FamilyOfLine = 4 | 6 | undefined;

function familiesOf(rule: Rule): readonly FamilyOfLine[] {
  const asksForAddresses = [rule.source, rule.destination].some(
    (side) =>
      side.nets.length +
        side.notNets.length +
        side.sets.length +
        side.notSets.length +
        side.namedPorts.length +
        side.notNamedPorts.length >
        0 || side.service !== undefined,
  );
  const asksForIcmp = rule.icmp !== undefined || rule.notIcmp !== undefined;
  const families = rule.family === undefined ? ([4, 6] as const) : [rule.family];
  if (!asksForAddresses && !asksForIcmp) return rule.family === undefined ? [undefined] : families;
  return families.filter(
    (family) => canBeIcmp(rule, family) && [rule.source, rule.destination].every((side) => isIn(family, side)),
  );
}

/** A rule about ICMP of one family has no line in the other: nft refuses two protocols that contradict each other. */
function canBeIcmp({ icmp, notIcmp, protocol, notProtocol }: Rule, family: 4 | 6): boolean {
  if (icmp === undefined && notIcmp === undefined) return true;
  const number = family === 4 ? 1 : 58;
  return (protocol === undefined || protocol === number) && notProtocol !== number;
}

/** A list of networks without one of this family takes the rule out of the family. */
function isIn(family: 4 | 6, { nets, notNets }: Side): boolean {
  return [nets, notNets].every((list) => list.length === 0 || list.some((net) => net.family === family));
}

function protocolMatch({ protocol, notProtocol, icmp, notIcmp }: Rule, family: FamilyOfLine): string {
  const parts: string[] = [];
  if (family !== undefined) parts.push(`meta nfproto ipv${family}`);
  if (icmp !== undefined || notIcmp !== undefined) parts.push(`meta l4proto ${family === 4 ? 1 : 58}`);
  if (protocol !== undefined) parts.push(`meta l4proto ${protocol}`);
  if (notProtocol !== undefined) parts.push(`meta l4proto != ${notProtocol}`);
  return parts.join(" ");
}

function icmpMatches({ icmp, notIcmp }: Rule, family: FamilyOfLine): readonly string[] {
  const word = family === 4 ? "icmp" : "icmpv6";
  const wanted =
    icmp === undefined ? "" : `${word} type ${icmp.type}${icmp.code === undefined ? "" : ` ${word} code ${icmp.code}`}`;
  if (notIcmp === undefined) return [wanted];
  const { type, code } = notIcmp;
  const not =
    code === undefined
      ? [`${word} type != ${type}`]
      : [`${word} type != ${type}`, `${word} type ${type} ${word} code != ${code}`];
  return not.map((one) => [wanted, one].filter((part) => part !== "").join(" "));
}

/** Each entry is one way in which the side may hold. */
function sideMatches(side: Side, end: "s" | "d", family: FamilyOfLine): readonly string[] {
  const fixed: string[] = [];
  if (family !== undefined) fixed.push(...addressMatches(side, end, family));
  if (side.notPorts.length > 0) fixed.push(`th ${end}port != ${portSet(side.notPorts)}`);
  const ways: string[] = [];
  if (side.ports.length > 0) ways.push(`th ${end}port ${portSet(side.ports)}`);
  if (family !== undefined)
    for (const set of side.namedPorts) ways.push(`${portKey(end, family)} @${setName(set.id, family)}`);
  if (ways.length === 0) return [fixed.join(" ")];
  return ways.map((way) => [...fixed, way].join(" "));
}

function addressMatches(side: Side, end: "s" | "d", family: 4 | 6): readonly string[] {
  const address = `${family === 4 ? "ip" : "ip6"} ${end}addr`;
  const parts: string[] = [];
  if (side.nets.length > 0) parts.push(`${address} ${netSet(side.nets, family)}`);
  if (side.notNets.length > 0) parts.push(`${address} != ${netSet(side.notNets, family)}`);
  for (const set of side.sets) parts.push(`${address} @${setName(set.id, family)}`);
  for (const set of side.notSets) parts.push(`${address} != @${setName(set.id, family)}`);
  for (const set of side.notNamedPorts) parts.push(`${portKey(end, family)} != @${setName(set.id, family)}`);
  if (side.service !== undefined) parts.push(`${portKey(end, family)} @${setName(side.service.id, family)}`);
  return parts;
}

/** As the elements of sets with ports are keyed. */
function portKey(end: "s" | "d", family: 4 | 6): string {
  return `${family === 4 ? "ip" : "ip6"} ${end}addr . meta l4proto . th ${end}port`;
}

function netSet(nets: readonly AddressRange[], family: 4 | 6): string {
  const cover = disjoint(nets.filter((net) => net.family === family));
  // nft takes no network of length 0 in a set with others; alone it holds for every address.
  return `{ ${cover.flatMap(halves).map(rangeText).join(", ")} }`;
}

/** 0.0.0.0/0 as two halves: an interval over all addresses is refused. */
export function halves(net: AddressRange): readonly AddressRange[] {
  if (net.prefixLength > 0) return [net];
  const middle = 1n << BigInt((net.family === 4 ? 32 : 128) - 1);
  return [
    { ...net, prefixLength: 1 },
    { ...net, first: middle, prefixLength: 1 },
  ];
}

/** The fewest networks of those given that hold all of them: nft refuses elements that overlap. */
export function disjoint(nets: readonly AddressRange[]): readonly AddressRange[] {
  const sorted = nets.toSorted((a, b) => {
    if (a.first !== b.first) return a.first < b.first ? -1 : 1;
    return a.prefixLength - b.prefixLength;
  });
  const out: AddressRange[] = [];
  let end = -1n;
  for (const net of sorted) {
    if (net.first <= end) continue;
    out.push(net);
    end = net.first + (1n << BigInt((net.family === 4 ? 32 : 128) - net.prefixLength)) - 1n;
  }
  return out;
}

function portSet(ranges: readonly PortRange[]): string {
  return `{ ${joinedRanges(ranges)
    .map(({ first, last }) => (first === last ? first : `${first}-${last}`))
    .join(", ")} }`;
}

/** Sorted, and those that meet joined. */
function joinedRanges(ranges: readonly PortRange[]): readonly PortRange[] {
  const out: { first: number; last: number }[] = [];
  for (const { first, last } of ranges.toSorted((a, b) => a.first - b.first)) {
    const before = out.at(-1);
    if (before !== undefined && first <= before.last + 1) before.last = Math.max(before.last, last);
    else out.push({ first, last });
  }
  return out;
}

function product(lists: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return lists.reduce<readonly (readonly string[])[]>(
    (rows, list) => rows.flatMap((row) => list.map((one) => [...row, one])),
    [[]],
  );
}

/** How a set is declared, and which of its members are of the family. */
export function setDeclaration(set: SetSpec, family: 4 | 6): string {
  const address = `ipv${family}_addr`;
  const hasPorts = set.is === "named port" || (set.is === "service" && set.hasPorts);
  return hasPorts ? `type ${address} . inet_proto . inet_service;` : `type ${address}; flags interval;`;
}
