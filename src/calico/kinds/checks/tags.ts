// The rules that have a name in the original, each with the words in which we say it.
import { canonicalMac, isGoRegexp, isMasked, parseCidrOrIp, parseIp } from "../../../base/lib/index.ts";
import { selectorProblem } from "../../model/index.ts";
import { type Check, given, goMap, type Tag, tagReason } from "./check.ts";
import { isDnsName, labelsProblem } from "./name-rules.ts";

type Text = Tag<string>;
type Amount = number | bigint;

const text = (tag: string, rule: string, holds: (value: string) => boolean): Text => ({ tag, rule, holds });

export const name = text("name", "must be a DNS name", isDnsName);

export const selector: Text = text("selector", "must be a selector", (value) => selectorProblem(value) === undefined);

/** A network without host bits, or a bare address; of the family where one is asked for. */
export function isStrictNetwork(value: string, family?: 4 | 6): boolean {
  const cidr = parseCidrOrIp(value);
  return cidr !== undefined && isMasked(cidr) && (family === undefined || cidr.ip.version === family);
}

function isIp(value: string, family?: 4 | 6): boolean {
  const ip = parseIp(value);
  return ip !== undefined && (family === undefined || ip.version === family);
}

const isCidr = (value: string, family?: 4 | 6) => {
  const cidr = parseCidrOrIp(value);
  return cidr !== undefined && (family === undefined || cidr.ip.version === family);
};

export const net = text("net", "must be a network without host bits", (value) => isStrictNetwork(value));
export const netOf = (family: 4 | 6) =>
  text(`netv${family}`, `must be an IPv${family} network without host bits`, (value) => isStrictNetwork(value, family));
export const cidr = text("cidr", "must be a CIDR or an IP address", (value) => isCidr(value));
export const cidrOf = (family: 4 | 6) =>
  text(`cidrv${family}`, `must be an IPv${family} CIDR or address`, (value) => isCidr(value, family));
export const ip = text("ip", "must be an IP address", (value) => isIp(value));
export const ipOf = (family: 4 | 6) =>
  text(`ipv${family}`, `must be an IPv${family} address`, (value) => isIp(value, family));
export const reachableBy = text("reachableBy", "must be an IP address", (value) => isIp(value));

/** The original's parser takes the empty text for a network. */
export const cidrs: Tag<readonly string[]> = {
  tag: "cidrs",
  rule: "must be CIDRs or IP addresses",
  holds: (values) => values.every((value) => value === "" || parseCidrOrIp(value) !== undefined),
};

/** The address of IP, IPv4:PORT or [IPv6]:PORT; undefined: none of them. */
export function addressOfPeer(value: string): string | undefined {
  const [, ipv4, ipv4Port] = /^(\d+\.\d+\.\d+\.\d+):(\d+)$/.exec(value) ?? [];
  const [, ipv6, ipv6Port] = /^\[([0-9a-fA-F:.]+)\]:(\d+)$/.exec(value) ?? [];
  const address = ipv4 ?? ipv6 ?? value;
  const port = ipv4Port ?? ipv6Port;
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65535)) return undefined;
  return parseIp(address) === undefined ? undefined : address;
}

export const ipAndPort = text(
  "IP:port",
  "must be an IP address, IPv4:PORT or [IPv6]:PORT",
  (value) => addressOfPeer(value) !== undefined,
);

export const isInterfaceName = (value: string) => /^[a-zA-Z0-9_.-]{1,15}$/.test(value);
export const interfaceName = text(
  "interface",
  "must be an interface name of up to 15 characters",
  (value) => value === "*" || isInterfaceName(value),
);
const isInterfacePattern = (value: string) => /^[a-zA-Z0-9_.*-]{1,15}$/.test(value);
const patternRule = "must be an interface name, which may have * in it";
export const bgpFilterInterface = text("bgpFilterInterface", patternRule, isInterfacePattern);
export const ignoredInterface = text(
  "ignoredInterface",
  `${patternRule} but not be all of it`,
  (value) => value !== "*" && isInterfacePattern(value),
);
const isInterfaceFilter = (value: string) => /^[a-zA-Z0-9:._+-]{1,15}$/.test(value);
export const interfaceFilter = text("ifaceFilter", "must be an interface name, which may end in +", isInterfaceFilter);
export const interfaceFilters: Tag<readonly string[]> = {
  tag: "ifaceFilterSlice",
  rule: "must be interface names, which may end in +",
  holds: (values) => values.every(isInterfaceFilter),
};
export const prometheusHost = text(
  "prometheusHost",
  "must be an address or host name of up to 64 characters",
  (value) => /^[a-zA-Z0-9:._+-]{1,64}$/.test(value),
);
export const bpfLogFilters: Check<{ readonly [name: string]: string }> = function* (
  filters = {},
  { path, name: called },
) {
  if (Object.keys(filters).every(isInterfaceName)) return;
  const reason = tagReason(called, "bpfLogFilters");
  yield { field: path, rule: "must have interface names for keys", name: called, value: goMap(filters), reason };
};

export const regexp = text("regexp", "must be a regular expression", isGoRegexp);
export const keyValueList = text(
  "keyValueList",
  "must be a list of KEY=VALUE",
  (value) => value.trim() === "" || value.split(",").every((item) => item === "" || /^\s*(\w+)=(.*)$/.test(item)),
);
export const containerId = text("containerID", "must be letters, digits and inner -", (value) =>
  /^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$/.test(value),
);
export const mac = text("mac", "must be a MAC address", (value) => canonicalMac(value) !== undefined);
export const wireguardKey = text(
  "wireguardPublicKey",
  "must be a key of 32 bytes in base64",
  (value) => /^[A-Za-z0-9+/]{43}=$/.test(value), // as Go reads it, whatever the last bits are
);

/** Kubernetes' port names. */
export function isPortName(value: string): boolean {
  return /^[a-z0-9-]{1,15}$/.test(value) && /[a-z]/.test(value) && !/^-|-$|--/.test(value);
}
export const portName = text("portName", "must be a port name: up to 15 of a-z, 0-9 and inner -", isPortName);

/** Labels, where any are given: the first that is none is named. */
export const labels: Check<{ readonly [name: string]: string }> = function* (values = {}, { path, name: called }) {
  const problem = labelsProblem(Object.entries(values), path);
  if (problem === undefined) return;
  yield { ...problem, name: called, value: goMap(values), reason: tagReason(called, "labels") };
};

export const oneOf = (...words: readonly string[]): Text =>
  text("oneof", `must be one of ${words.join(", ")}`, (value) => words.includes(value));
export const unique: Tag<readonly unknown[]> = {
  tag: "unique",
  rule: "must not have one twice",
  holds: (values) => new Set(values).size === values.length,
};
export const required: Tag<unknown> = {
  tag: "required",
  rule: "must be given",
  holds: (value) => value !== "" && value !== 0 && value !== undefined,
};

/** A list that must be there, be it empty; one that is not, the original prints as an empty one. */
export const requiredList: Check<readonly unknown[]> = (value, { path, name: called }) =>
  value === undefined
    ? [{ field: path, rule: required.rule, name: called, value: "[]", reason: tagReason(called, required.tag) }]
    : [];

/** What is a pointer in Go must be there; what it points to may be "" or 0, if the other rules allow it. */
export const requiredPointer =
  <T>(...tags: Tag<T>[]): Check<T> =>
  (value, { path, name: called }) =>
    value === undefined
      ? [{ field: path, rule: required.rule, name: called, value: "<nil>", reason: tagReason(called, required.tag) }]
      : given(...tags)(value, { path, name: called });

/** Two rules of the original's, of which the one that is broken is named. */
export function within(least: number, most: number, strict: { least?: true; most?: true } = {}): Tag<Amount>[] {
  const [from, to] = [strict.least ? least + 1 : least, strict.most ? most - 1 : most];
  const rule = Number.isFinite(most) ? `must be from ${from} to ${to}` : `must be ${from} or more`;
  const lower = { tag: strict.least ? "gt" : "gte", rule, holds: (value: Amount) => value >= from };
  const upper = { tag: strict.most ? "lt" : "lte", rule, holds: (value: Amount) => value <= to };
  return Number.isFinite(most) ? [lower, upper] : [lower];
}
export const atLeast = (least: number) => within(least, Number.POSITIVE_INFINITY);
export const above = (least: number) => within(least, Number.POSITIVE_INFINITY, { least: true });
export const priority = within(1, 2147483646);
