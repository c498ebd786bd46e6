// What an option may be, as a table, for programs that no compiler has read: plain JavaScript and parsed configuration. A
// wrong one would else be dialled with for ever, because following takes every failure for the server's.
import { CattailError, nearest } from "../../../base/lib/index.ts";
import { isRecord, syncerTypes } from "../../../calico/model/basics.ts";
import type { ClientTls } from "../connection/dial.ts";
import type { ServerAddress } from "../discovery/server-address.ts";
import type { FollowOptions } from "./follow-options.ts";

type Rule = { readonly isRight: (value: unknown) => boolean; readonly wants: string };
/** One for each member: an option that is added needs its rule. */
type Rules<T> = { readonly [name in keyof T]-?: Rule };

/** What setTimeout() can wait; beyond that Node does not wait at all. */
const longestMs = 2 ** 31 - 1;

const text: Rule = { isRight: (value) => typeof value === "string", wants: "a string" };
const milliseconds: Rule = {
  isRight: (value) => typeof value === "number" && value > 0 && value <= longestMs,
  wants: `a number of milliseconds, more than 0 and at most ${longestMs}`,
};

const optionRules: Rules<FollowOptions> = {
  servers: {
    isRight: (value) =>
      text.isRight(value) || typeof value === "function" || (isList(value, text.isRight) && value.length > 0),
    wants: `"HOST:PORT", a list of at least one of them, or a discovery such as kubernetesService()`,
  },
  type: optional(oneOf(syncerTypes)),
  tls: optional({ isRight: isRecord, wants: "an object with caFile, certFile, keyFile and server" }),
  signal: optional({
    isRight: (value) => isRecord(value) && typeof value.aborted === "boolean",
    wants: "an AbortController's signal",
  }),
  hostname: optional(text),
  info: optional(text),
  version: optional(text),
  compression: optional({
    isRight: (value) => isList(value, (name) => name === "zstd" || name === "snappy"),
    wants: `a list of "zstd" and "snappy", or []`,
  }),
  policyKeys: optional(oneOf(["modern", "legacy"])),
  dialTimeoutMs: optional(milliseconds),
  readTimeoutMs: optional(milliseconds),
  writeTimeoutMs: optional(milliseconds),
  maxFailures: optional({
    isRight: (value) => value === Number.POSITIVE_INFINITY || (isWhole(value) && value > 0),
    wants: "a whole number from 1, or Infinity",
  }),
  clock: optional(withMethods(["wallMs", "monotonicMs", "sleep"])),
  random: optional({ isRight: (value) => typeof value === "function", wants: "a function" }),
  log: optional(withMethods(["debug", "info", "warn", "error"])),
};

// Contents in place of a path are a likely slip, and one that would have the key printed as the name of a missing file.
const file: Rule = { isRight: (value) => isName(value) && !/[\r\n]/.test(value), wants: "the path of a file" };

const tlsRules: Rules<ClientTls> = {
  caFile: file,
  certFile: file,
  keyFile: file,
  server: {
    // Without either, whatever certificate the CA has signed would do, a node's as well.
    isRight: (value) => isRecord(value) && (isName(value.commonName) || isName(value.uriSan)),
    wants: "an object with the commonName or the uriSan that the server's certificate has",
  },
};

const addressRules: Rules<ServerAddress> = {
  host: { isRight: isName, wants: "a name or an IP address" },
  port: { isRight: isPort, wants: "a whole number from 1 to 65535" },
  node: optional(text),
};

/** Throws one error that lists everything wrong. */
export function checkOptions(options: FollowOptions): void {
  const given: unknown = options;
  if (!isRecord(given)) throw invalid([wrongValue("the argument", given, `an object with "servers"`)]);
  const wrong = [...misspeltIn("", given, optionRules), ...wrongIn("", given, optionRules)];
  if (isRecord(given.tls)) {
    wrong.push(...misspeltIn("tls.", given.tls, tlsRules), ...wrongIn("tls.", given.tls, tlsRules));
  }
  if (wrong.length > 0) throw invalid(wrong);
}

/** The same for what a discovery has answered. */
export function checkAddresses(addresses: readonly ServerAddress[]): void {
  const given: unknown = addresses;
  if (!isList(given, isRecord)) {
    throw invalid([wrongValue("what the discovery answers", given, "a list of { host, port }")]);
  }
  const wrong = given.flatMap((address, index) => wrongIn(`the discovery's [${index}].`, address, addressRules));
  if (wrong.length > 0) throw invalid(wrong);
}

/** No server's failure, so that trying again would not mend it. */
export function isInvalidOption(error: unknown): boolean {
  return error instanceof CattailError && error.code === "CLIENT_OPTION_INVALID";
}

type Wrong = { readonly problem: string; readonly next: string };

function wrongIn(
  prefix: string,
  given: { readonly [name: string]: unknown },
  rules: { readonly [name: string]: Rule },
): Wrong[] {
  return Object.entries(rules).flatMap(([name, { isRight, wants }]) =>
    isRight(given[name]) ? [] : [wrongValue(`${prefix}${name}`, given[name], wants)],
  );
}

function misspeltIn(prefix: string, given: object, rules: object): Wrong[] {
  const known = Object.keys(rules);
  const unknown = Object.entries(given).filter(([name, value]) => value !== undefined && !known.includes(name));
  return unknown.map(([name]) => misspelt(prefix, name, known));
}

function wrongValue(name: string, value: unknown, wants: string): Wrong {
  return { problem: `${name} is ${seen(value)}`, next: `${name} has to be ${wants}` };
}

/** Passed over, it would leave its writer with a default that nobody asked for. */
function misspelt(prefix: string, name: string, known: readonly string[]): Wrong {
  const meant = nearest(name, known);
  const next = meant === undefined ? `leave out ${prefix}${name}` : `write ${prefix}${meant} for ${prefix}${name}`;
  return { problem: `there is no ${prefix}${name}`, next: `${next} (there are ${known.join(", ")})` };
}

function invalid(wrong: readonly Wrong[]): CattailError {
  return new CattailError("CLIENT_OPTION_INVALID", {
    problem: wrong.map(({ problem }) => problem).join("; "),
    next: wrong.map(({ next }) => next).join("; "),
  });
}

/** Enough to recognise it by; never more than the first line of what may be a key. */
function seen(value: unknown): string {
  if (typeof value === "string") {
    const shown = /^.{0,60}/.exec(value)?.[0] ?? "";
    return JSON.stringify(shown.length < value.length ? `${shown}…` : value);
  }
  if (Array.isArray(value)) {
    const items = value.slice(0, 4).map((item) => (Array.isArray(item) ? "a list" : seen(item)));
    return `[${[...items, ...(value.length > 4 ? ["…"] : [])].join(", ")}]`;
  }
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  const { name = "Object" } = value.constructor ?? {};
  return name === "Object" ? "an object" : `an object of the class ${name}`;
}

function optional({ isRight, wants }: Rule): Rule {
  return { isRight: (value) => value === undefined || isRight(value), wants };
}

function oneOf(names: readonly string[]): Rule {
  return {
    isRight: (value) => typeof value === "string" && names.includes(value),
    wants: names.map((name) => JSON.stringify(name)).join(" or "),
  };
}

function withMethods(names: readonly string[]): Rule {
  return {
    isRight: (value) => isRecord(value) && names.every((name) => typeof value[name] === "function"),
    wants: `an object with the functions ${names.join(", ")}`,
  };
}

export function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

export function isPort(value: unknown): value is number {
  return isWhole(value) && value >= 1 && value <= 65_535;
}

function isWhole(value: unknown): value is number {
  return Number.isInteger(value);
}

function isList<T>(value: unknown, isRight: (item: unknown) => item is T): value is T[];
function isList(value: unknown, isRight: (item: unknown) => boolean): value is unknown[];
function isList(value: unknown, isRight: (item: unknown) => boolean): value is unknown[] {
  return Array.isArray(value) && value.every(isRight);
}
