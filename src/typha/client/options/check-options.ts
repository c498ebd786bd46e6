// How options are checked, for programs that no compiler has read: plain JavaScript and parsed configuration. A wrong one
// would else be dialled with for ever, because following takes every failure for the server's. The tables of rules are
// where the options are: follow-options.ts and discovery/server-address.ts.
import { CattailError, isRecord, nearest } from "../../../base/lib/index.ts";

export type Rule = { readonly isRight: (value: unknown) => boolean; readonly wants: string };
/** One for each member: an option that is added needs its rule. */
export type Rules<T> = { readonly [name in keyof T]-?: Rule };

/** What setTimeout() can wait; beyond that Node does not wait at all. */
const longestMs = 2 ** 31 - 1;

export const text: Rule = { isRight: (value) => typeof value === "string", wants: "a string" };
export const milliseconds: Rule = {
  isRight: (value) => typeof value === "number" && value > 0 && value <= longestMs,
  wants: `a number of milliseconds, more than 0 and at most ${longestMs}`,
};

/** No server's failure, so that trying again would not mend it. */
export function isInvalidOption(error: unknown): boolean {
  return error instanceof CattailError && error.code === "CLIENT_OPTION_INVALID";
}

export type Wrong = { readonly problem: string; readonly next: string };

export function wrongIn(
  prefix: string,
  given: { readonly [name: string]: unknown },
  rules: { readonly [name: string]: Rule },
): Wrong[] {
  return Object.entries(rules).flatMap(([name, { isRight, wants }]) =>
    isRight(given[name]) ? [] : [wrongValue(`${prefix}${name}`, given[name], wants)],
  );
}

export function misspeltIn(prefix: string, given: object, rules: object): Wrong[] {
  const known = Object.keys(rules);
  const unknown = Object.entries(given).filter(([name, value]) => value !== undefined && !known.includes(name));
  return unknown.map(([name]) => misspelt(prefix, name, known));
}

export function wrongValue(name: string, value: unknown, wants: string): Wrong {
  return { problem: `${name} is ${seen(value)}`, next: `${name} has to be ${wants}` };
}

/** Passed over, it would leave its writer with a default that nobody asked for. */
function misspelt(prefix: string, name: string, known: readonly string[]): Wrong {
  const meant = nearest(name, known);
  const next = meant === undefined ? `leave out ${prefix}${name}` : `write ${prefix}${meant} for ${prefix}${name}`;
  return { problem: `there is no ${prefix}${name}`, next: `${next} (there are ${known.join(", ")})` };
}

export function invalid(wrong: readonly Wrong[]): CattailError {
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

export function optional({ isRight, wants }: Rule): Rule {
  return { isRight: (value) => value === undefined || isRight(value), wants };
}

export function oneOf(names: readonly string[]): Rule {
  return {
    isRight: (value) => typeof value === "string" && names.includes(value),
    wants: names.map((name) => JSON.stringify(name)).join(" or "),
  };
}

export function withMethods(names: readonly string[]): Rule {
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

export function isWhole(value: unknown): value is number {
  return Number.isInteger(value);
}

export function isList<T>(value: unknown, isRight: (item: unknown) => item is T): value is T[];
export function isList(value: unknown, isRight: (item: unknown) => boolean): value is unknown[];
export function isList(value: unknown, isRight: (item: unknown) => boolean): value is unknown[] {
  return Array.isArray(value) && value.every(isRight);
}
