// The kinds of values that only a node's settings have, in the original's formats. What it reads and we can do nothing with is refused, too:
// a name of an interface or a network goes into the kernel's tables.
import { goInteger, type Parsed, type SettingType } from "../../base/config/index.ts";
import { canonicalIp, compileGoRegexp, parseAddress, parseRange, rangeText } from "../../base/lib/index.ts";

const good = <T>(value: T): Parsed<T> => ({ ok: true, value });
const bad = (why: string): { ok: false; why: string } => ({ ok: false, why });

function items(text: string): string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function list<T>(allowed: string, read: (item: string) => T | undefined, show: (one: T) => string) {
  return {
    allowed,
    zero: [],
    parse: (text: string): Parsed<readonly T[]> => {
      const values: T[] = [];
      for (const item of items(text)) {
        const value = read(item);
        if (value === undefined) return bad(`${JSON.stringify(item)} is not of that form`);
        values.push(value);
      }
      return good(values);
    },
    show: (values: readonly T[]) => values.map(show).join(","),
  };
}

function matching(pattern: RegExp, allowed: string): SettingType<string> {
  return {
    allowed,
    zero: "",
    parse: (text) => (pattern.test(text) ? good(text) : bad("it is not of that form")),
    show: (value) => value,
  };
}

export const serverAddress = matching(
  /^((\[[0-9a-fA-F:.]+\]|[^:/\s[\]]+):\d{1,5})?$/,
  "host:port, with an IPv6 address in brackets",
);
export const hostName = matching(/^[a-zA-Z0-9_.-]+$/, "a name of letters, digits and _.-");
export const interfaceName = matching(/^([a-zA-Z0-9:._+-]{1,15})?$/, "an interface's name, or its start followed by +");
export const logRate = matching(
  /^([1-9]\d{0,3}\/(?:second|minute|hour|day))?$/,
  "such as 10/minute: a number up to 9999 and second, minute, hour or day",
);
export const macAddress = matching(
  /^([0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5})?$/,
  "a MAC address, such as 66:00:00:00:00:01",
);

/** Unset is neither yes nor no. */
export const optionalBool: SettingType<boolean | undefined> = {
  allowed: "true or false (as other yes-or-no settings)",
  zero: undefined,
  parse: (text) => {
    if (/^(true|1|yes|y|t)$/i.test(text)) return good(true);
    return /^(false|0|no|n|f)$/i.test(text) ? good(false) : bad("it is no yes or no");
  },
  show: (value) => (value === undefined ? "" : String(value)),
};

/** "" for none. */
export function address(family: 4 | 6): SettingType<string> {
  return {
    allowed: `an IPv${family} address`,
    zero: "",
    parse: (text) => {
      if (text === "") return good("");
      // In one form: an IPv4 address written as IPv6 is one, and goes into rules and routes as one.
      return parseAddress(text)?.family === family
        ? good(canonicalIp(text) ?? text)
        : bad(`it is no IPv${family} address`);
    },
    show: (value) => value,
  };
}

/** The first letters of the names of pods' interfaces. */
export const interfacePrefixes: SettingType<readonly string[]> = {
  allowed: "a comma-separated list of starts of interface names (letters, digits and _-, at most 15)",
  zero: [],
  parse: (text) =>
    /^[a-zA-Z0-9_-]{1,15}(,[a-zA-Z0-9_-]{1,15})*$/.test(text) ? good(text.split(",")) : bad("it is not of that form"),
  show: (values) => values.join(","),
};

/** Names as they are, and expressions between slashes. */
export const interfacePatterns: SettingType<readonly RegExp[]> = list(
  "a comma-separated list of interface names, and of regular expressions between slashes",
  (item) => {
    if (/^\/\S+\/$/.test(item)) return compiled(item.slice(1, -1));
    return /^[a-zA-Z0-9_-]{1,15}$/.test(item) ? new RegExp(`^${item}$`) : undefined;
  },
  (pattern) => (/^\^[a-zA-Z0-9_-]+\$$/.test(pattern.source) ? pattern.source.slice(1, -1) : `/${pattern.source}/`),
);

export const regularExpression: SettingType<RegExp | undefined> = {
  allowed: "a regular expression",
  zero: undefined,
  parse: (text) => {
    if (text === "") return good(undefined);
    const expression = compiled(text);
    return expression === undefined ? bad("it is no regular expression") : good(expression);
  },
  show: (value) => value?.source ?? "",
};

function compiled(text: string): RegExp | undefined {
  try {
    return compileGoRegexp(text);
  } catch {
    return undefined; // the caller says so, with the setting's name
  }
}

/** A port of this host that no policy closes; the network is the other side's. */
export type FailsafePort = { readonly protocol: "tcp" | "udp"; readonly net?: string; readonly port: number };

export const failsafePorts: SettingType<readonly FailsafePort[]> = list(
  "a comma-separated list of PORT, PROTOCOL:PORT and PROTOCOL:NETWORK:PORT, with tcp or udp, and an IPv6 network in brackets",
  (item) => {
    const {
      protocol = "tcp",
      net6,
      net4,
      port,
    } = /^(?:(?<protocol>tcp|udp):)?(?:(?:\[(?<net6>[0-9a-f:./]+)\]|(?<net4>[0-9./]+)):)?(?<port>\d{1,5})$/i.exec(item)
      ?.groups ?? {};
    const net = net6 ?? net4;
    const range = net === undefined ? undefined : parseRange(net);
    if (port === undefined || Number(port) > 65_535 || (net !== undefined && range === undefined)) return undefined;
    return {
      protocol: protocol.toLowerCase() === "udp" ? ("udp" as const) : ("tcp" as const),
      ...(range === undefined ? {} : { net: rangeText(range) }),
      port: Number(port),
    };
  },
  ({ protocol, net, port }) => {
    const shown = net === undefined ? "" : `${net.includes(":") ? `[${net}]` : net}:`;
    return `${protocol}:${shown}${port}`;
  },
);

export type NumberRange = { readonly first: number; readonly last: number };

const inRange = (pattern: RegExp, most: number) => (text: string) => {
  const [, from, to = from] = pattern.exec(text) ?? [];
  const range = { first: Number(from), last: Number(to) };
  return from === undefined || range.first > range.last || range.last > most ? undefined : range;
};
const ports = inRange(/^(\d{1,5})(?::(\d{1,5}))?$/, 65_535);
const tables = inRange(/^([1-9]\d{0,9})-(\d{1,10})$/, 0xffff_ffff);
const portsText = ({ first, last }: NumberRange) => (first === last ? `${first}` : `${first}:${last}`);

export const portRange: SettingType<NumberRange | undefined> = {
  allowed: "a port, or a range of them such as 32768:65535",
  zero: undefined,
  parse: (text) => {
    const range = ports(text);
    return range === undefined && text !== "" ? bad("it is no range of ports") : good(range);
  },
  show: (value) => (value === undefined ? "" : portsText(value)),
};

const plainPortRanges = list("a comma-separated list of ports and of ranges such as 30000:32767", ports, portsText);

/** Also as the original writes the list of a FelixConfiguration, and cannot read it itself: in brackets, with blanks between. */
export const portRanges: SettingType<readonly NumberRange[]> = {
  ...plainPortRanges,
  parse: (text) => plainPortRanges.parse(/^\[.*\]$/.test(text) ? text.slice(1, -1).trim().replace(/ +/g, ",") : text),
};

const plainTableRanges = list(
  "a list of ranges of routing tables such as 1-250, separated by commas or blanks",
  tables,
  ({ first, last }) => `${first}-${last}`,
);

export const tableRanges: SettingType<readonly NumberRange[]> = {
  ...plainTableRanges,
  parse: (text) => plainTableRanges.parse(text.replace(/\s+/g, ",")),
};

export const networks: SettingType<readonly string[]> = list(
  "a comma-separated list of networks and addresses",
  (item) => {
    const range = parseRange(item);
    return range === undefined ? undefined : rangeText(range);
  },
  (net) => net,
);

/** The bits of a packet's mark that are ours. */
export const markMask: SettingType<number> = {
  allowed: "a number of 32 bits, at least three of them set, such as 0xffff0000",
  zero: 0,
  parse: (text) => {
    const value = goInteger(text);
    if (value === undefined || value > 0xffff_ffff || /^[+-]/.test(text)) return bad("it is no number of 32 bits");
    const bits = value.toString(2).replaceAll("0", "").length;
    // So many the rules need (node/dataplane); with fewer they would take bits of others. The original needs more.
    return bits < 3 ? bad("it has fewer than three bits") : good(value);
  },
  show: (value) => `0x${value.toString(16)}`,
};

/** `a=1m30s,b=5s`, in milliseconds. */
export const durationsByName: SettingType<ReadonlyMap<string, number>> = {
  allowed: "a comma-separated list of NAME=DURATION, such as CalculationGraph=1m30s, with 0s for no limit",
  zero: new Map(),
  parse: (text) => {
    const read = new Map<string, number>();
    for (const item of items(text)) {
      const [, name = "", duration = ""] = /^([^=]*[^=\s])\s*=\s*(\S+)$/.exec(item) ?? [];
      const ms = durationMs(duration);
      if (name === "" || ms === undefined) return bad(`${JSON.stringify(item)} is not of that form`);
      read.set(name, ms);
    }
    return good(read);
  },
  show: (value) => [...value].map(([name, ms]) => `${name}=${ms / 1000}s`).join(","),
};

const unitMs: { readonly [unit: string]: number } = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  ns: 1e-6,
};

/** As Go writes it: 1m30s, 500ms. */
function durationMs(text: string): number | undefined {
  if (text === "0") return 0;
  if (!/^(\d+(\.\d+)?(h|ms|us|µs|ns|m|s))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, count, unit = ""] of text.matchAll(/(\d+(?:\.\d+)?)(h|ms|us|µs|ns|m|s)/g))
    sum += Number(count) * (unitMs[unit] ?? 0);
  return sum;
}

/** As other durations, in milliseconds; in the text also milliseconds. */
export const milliseconds: SettingType<number> = {
  allowed: "a number of milliseconds",
  zero: 0,
  parse: (text) => (/^\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? good(Number(text)) : bad("it is no number")),
  show: String,
};
