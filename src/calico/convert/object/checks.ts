// How the kinds that are sent whole say their validation rules: as checks in a row, of which `firstProblem` finds the
// first that fails; and the predicates that several of them share.
import { isMasked, parseCidrOrIp, parseIp } from "../../../base/lib/index.ts";
import { selectorProblem } from "../../model/index.ts";
import type { FieldProblem } from "../processor/processor.ts";

/** One check: a field, whether it holds, and what is expected of it. */
export type Check = readonly [field: string, isGood: boolean, rule: string];

export function firstProblem(checks: Iterable<Check>): FieldProblem | undefined {
  for (const [field, isGood, rule] of checks) if (!isGood) return { field, rule };
  return undefined;
}

export const isSelector = (text: string) => selectorProblem(text) === undefined;

/** A network without host bits, or a bare address; of the family where one is asked for. */
export function isStrictNetwork(text: string, family?: 4 | 6): boolean {
  const cidr = parseCidrOrIp(text);
  return cidr !== undefined && isMasked(cidr) && (family === undefined || cidr.ip.version === family);
}

export function isIp(text: string, family?: 4 | 6): boolean {
  const ip = parseIp(text);
  return ip !== undefined && (family === undefined || ip.version === family);
}

/** The address of IP, IPv4:PORT or [IPv6]:PORT; undefined: none of them. */
export function addressOfPeer(text: string): string | undefined {
  const [, ipv4, ipv4Port] = /^(\d+\.\d+\.\d+\.\d+):(\d+)$/.exec(text) ?? [];
  const [, ipv6, ipv6Port] = /^\[([0-9a-fA-F:.]+)\]:(\d+)$/.exec(text) ?? [];
  const address = ipv4 ?? ipv6 ?? text;
  const port = ipv4Port ?? ipv6Port;
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65535)) return undefined;
  return parseIp(address) === undefined ? undefined : address;
}

export const isPriority = (value: number | bigint) => value >= 1 && value <= 2147483646;
export const priorityRule = "must be from 1 to 2147483646";

export const isInterfaceName = (text: string) => /^[a-zA-Z0-9_.-]{1,15}$/.test(text);
export const isInterfacePattern = (text: string) => /^[a-zA-Z0-9_.*-]{1,15}$/.test(text);
export const interfacePatternRule = "must be an interface name, which may have * in it";

/** Optional fields are checked only where they are given. */
export function given<T>(value: T | undefined, isGood: (value: T) => boolean): boolean {
  return value === undefined || isGood(value);
}

/** As above, where "" counts as not given. */
export function filled(value: string | undefined, isGood: (value: string) => boolean): boolean {
  return value === undefined || value === "" || isGood(value);
}
