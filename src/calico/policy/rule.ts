// A rule as it is used: networks as ranges, protocols as numbers, selectors as the sets they ask for. Reading one is also
// checking it: a value with one rule that makes no sense is void as a whole, because half a policy is worse than none.
import { type AddressRange, parseRange } from "../../base/lib/index.ts";
import type { Selector, V1Rule } from "../model/index.ts";
import { isPlainName, parseSelector } from "../model/index.ts";
import { hasPorts, protocolNumber } from "./protocols.ts";
import { namedPortSet, netsSet, type SetSpec, serviceSet } from "./set-spec.ts";

export type Action = "allow" | "deny" | "pass" | "log";
export type PortRange = { readonly first: number; readonly last: number };
export type IcmpMatch = { readonly type: number; readonly code: number | undefined };

/** What a rule asks of one end of a packet. Empty lists ask nothing. */
export type Side = {
  readonly nets: readonly AddressRange[];
  readonly notNets: readonly AddressRange[];
  /** The address is in each of them. */
  readonly sets: readonly SetSpec[];
  /** The address is in none of them. */
  readonly notSets: readonly SetSpec[];
  /** Any of these ports, or of those with a name. */
  readonly ports: readonly PortRange[];
  readonly namedPorts: readonly SetSpec[];
  readonly notPorts: readonly PortRange[];
  readonly notNamedPorts: readonly SetSpec[];
  /** Protocol, port and address are in it. */
  readonly service: SetSpec | undefined;
};

export type Rule = {
  readonly action: Action;
  readonly family: 4 | 6 | undefined;
  readonly protocol: number | undefined;
  readonly notProtocol: number | undefined;
  readonly icmp: IcmpMatch | undefined;
  readonly notIcmp: IcmpMatch | undefined;
  readonly source: Side;
  readonly destination: Side;
  /** Has a part that looks into HTTP, which no node does: the rule holds for more than it says. */
  readonly hasHttp: boolean;
  /** As it was sent. */
  readonly given: V1Rule;
};

/** The value that is read makes no sense, for this reason. */
export class VoidValue extends Error {}

const actions: { readonly [given: string]: Action } = {
  "": "allow",
  allow: "allow",
  deny: "deny",
  pass: "pass",
  "next-tier": "pass",
  log: "log",
};

export function readRule(given: V1Rule): Rule {
  const action = readAction(given.action ?? "");
  const protocol = readProtocol(given.protocol);
  const notProtocol = readProtocol(given["!protocol"]);
  const icmp = readIcmp(given.icmp_type, given.icmp_code);
  const notIcmp = readIcmp(given["!icmp_type"], given["!icmp_code"]);
  for (const text of [
    given.orig_src_selector,
    given["!orig_src_selector"],
    given.orig_dst_selector,
    given["!orig_dst_selector"],
    given.orig_src_namespace_selector,
    given.orig_dst_namespace_selector,
  ])
    readSelector(text);
  const source = readSide(
    {
      nets: given.src_nets,
      notNets: given["!src_nets"],
      selector: given.src_selector,
      notSelector: given["!src_selector"],
      ports: given.src_ports,
      notPorts: given["!src_ports"],
    },
    protocol,
  );
  const destination = readSide(
    {
      nets: given.dst_nets,
      notNets: given["!dst_nets"],
      selector: given.dst_selector,
      notSelector: given["!dst_selector"],
      ports: given.dst_ports,
      notPorts: given["!dst_ports"],
    },
    protocol,
  );
  return {
    action,
    family: readFamily(given.ip_version),
    protocol,
    notProtocol,
    icmp,
    notIcmp,
    source: withSourceService(source, given),
    destination: { ...destination, service: destinationService(given) },
    hasHttp: given.http !== undefined,
    given,
  };
}

/** Undefined: none is given, or an empty one, which asks nothing. */
export function readSelector(text: unknown): Selector | undefined {
  if (text === undefined || text === null || text === "") return undefined;
  if (typeof text !== "string") throw new VoidValue("a selector is not text");
  const parsed = parseSelector(text);
  if (parsed.is === "error") throw new VoidValue(`the selector ${JSON.stringify(text)} does not parse: ${parsed.why}`);
  return parsed.selector;
}

export function readNets(given: readonly unknown[] | undefined | null): readonly AddressRange[] {
  if (given !== undefined && given !== null && !Array.isArray(given)) throw new VoidValue("networks are not a list");
  return (given ?? []).map((text) => {
    const range = typeof text === "string" ? parseRange(text) : undefined;
    if (range === undefined) throw new VoidValue(`${JSON.stringify(text)} is not a network`);
    return range;
  });
}

type GivenSide = {
  readonly nets: readonly string[] | undefined;
  readonly notNets: readonly string[] | undefined;
  readonly selector: string | undefined;
  readonly notSelector: string | undefined;
  readonly ports: readonly (number | string)[] | undefined;
  readonly notPorts: readonly (number | string)[] | undefined;
};

function readSide(given: GivenSide, protocol: number | undefined): Side {
  const { wanted, excluded } = joined(readSelector(given.selector), readSelector(given.notSelector));
  const ports = splitPorts(given.ports, protocol);
  const notPorts = splitPorts(given.notPorts, protocol);
  const named = (names: readonly string[]) =>
    names.map((name) => namedPortSet(name, protocol, wanted ?? { is: "all" }));
  // The members of a set of named ports match the selector already.
  const isAskedByName = ports.numbers.length === 0 && ports.names.length > 0;
  return {
    nets: readNets(given.nets),
    notNets: readNets(given.notNets),
    sets: wanted === undefined || isAskedByName ? [] : [netsSet(wanted)],
    notSets: excluded === undefined ? [] : [netsSet(excluded)],
    ports: ports.numbers,
    namedPorts: named(ports.names),
    notPorts: notPorts.numbers,
    notNamedPorts: named(notPorts.names),
    service: undefined,
  };
}

/** Beside a positive selector a negative one is a part of it; alone it holds for addresses that nobody knows, too. */
function joined(positive: Selector | undefined, negative: Selector | undefined) {
  if (positive === undefined || negative === undefined) return { wanted: positive, excluded: negative };
  const wanted: Selector = { is: "and", operands: [positive, { is: "not", operand: negative }] };
  return { wanted, excluded: undefined };
}

function withSourceService(side: Side, given: V1Rule): Side {
  const { src_service: name = "", src_service_ns: namespace = "" } = given;
  return name === "" ? side : { ...side, sets: [...side.sets, serviceSet(namespace, name, { hasPorts: false })] };
}

function destinationService({ dst_service: name = "", dst_service_ns: namespace = "" }: V1Rule): SetSpec | undefined {
  return name === "" ? undefined : serviceSet(namespace, name, { hasPorts: true });
}

function splitPorts(given: readonly unknown[] | undefined, protocol: number | undefined) {
  const numbers: PortRange[] = [];
  const names: string[] = [];
  if (given !== undefined && given !== null && !Array.isArray(given)) throw new VoidValue("ports are not a list");
  for (const port of given ?? []) {
    const range = portRange(port);
    if (range !== undefined) numbers.push(range);
    else if (typeof port === "string" && isPlainName(port) && !/^[0-9]+(?::[0-9]+)?$/.test(port)) names.push(port);
    else throw new VoidValue(`${JSON.stringify(port)} is neither a port, a range of ports nor the name of one`);
  }
  if (numbers.length > 0 && protocol === undefined) throw new VoidValue("ports are given, and no protocol");
  if (numbers.length + names.length > 0 && protocol !== undefined && !hasPorts(protocol))
    throw new VoidValue(`ports are given, and protocol ${protocol}, which rules know no ports of`);
  return { numbers, names };
}

function portRange(port: unknown): PortRange | undefined {
  const [, first, last] = /^([0-9]{1,5})(?::([0-9]{1,5}))?$/.exec(String(port)) ?? [];
  if (first === undefined) return undefined;
  const range = { first: Number(first), last: Number(last ?? first) };
  return range.first >= 1 && range.first <= range.last && range.last <= 65535 ? range : undefined;
}

function readAction(given: string): Action {
  const action =
    typeof given === "string" && Object.hasOwn(actions, given.toLowerCase()) ? actions[given.toLowerCase()] : undefined;
  if (action === undefined) throw new VoidValue(`${JSON.stringify(given)} is no action`);
  return action;
}

function readProtocol(given: unknown): number | undefined {
  if (given === undefined || given === null) return undefined;
  const number = protocolNumber(given);
  if (number === undefined || number === 0) throw new VoidValue(`${JSON.stringify(given)} is no protocol`);
  return number;
}

function readFamily(given: unknown): 4 | 6 | undefined {
  if (given === undefined || given === null) return undefined;
  if (given !== 4 && given !== 6) throw new VoidValue(`${JSON.stringify(given)} is no version of IP`);
  return given;
}

/** A code without a type asks nothing. */
function readIcmp(type: unknown, code: unknown): IcmpMatch | undefined {
  if (isGiven(type) && !isWithin(type, 254)) throw new VoidValue(`${JSON.stringify(type)} is no type of ICMP`);
  if (isGiven(code) && !isWithin(code, 255)) throw new VoidValue(`${JSON.stringify(code)} is no code of ICMP`);
  return isGiven(type) ? { type: Number(type), code: isGiven(code) ? Number(code) : undefined } : undefined;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isWithin(value: unknown, last: number): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= last;
}
