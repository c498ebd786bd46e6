// What a template can call: Go's own functions that make sense here, and the three that the original adds.
import { CtlError } from "../../console.ts";
import { GoFloat, GoMap, GoStruct, type Value } from "./go-values.ts";
import { printFormatted, printValue } from "./print-value.ts";

export type TemplateFunction = (values: readonly Value[]) => Value;

export const functionNames: readonly string[] = [
  "and",
  "not",
  "or",
  ...Object.keys(templateFunctions(undefined)),
].sort();

/** `and`, `or` and `not` are not here: they look at no more than they need (evaluate.ts). */
export function templateFunctions(asNumber: number | undefined): { readonly [name: string]: TemplateFunction } {
  return {
    len: ([value = null]) => lengthOf(value),
    index: ([value = null, ...keys]) => keys.reduce<Value>((at, key) => elementOf(at, key), value),
    slice: ([value = null, from = 0, to]) => sliceOf(value, from, to),
    print: (values) => printed(values),
    println: (values) => `${values.map(printValue).join(" ")}\n`,
    printf: ([format = "", ...values]) => printFormatted(textOf(format, "printf"), values),
    eq: ([value = null, ...others]) => others.some((other) => isEqual(value, other)),
    ne: ([a = null, b = null]) => !isEqual(a, b),
    lt: ([a = null, b = null]) => compare(a, b) < 0,
    le: ([a = null, b = null]) => compare(a, b) <= 0,
    gt: ([a = null, b = null]) => compare(a, b) > 0,
    ge: ([a = null, b = null]) => compare(a, b) >= 0,
    join: ([items = null, separator = ""]) => joined(items, textOf(separator, "join")),
    joinAndTruncate: ([items = null, separator = "", most = 0]) => {
      const text = joined(items, textOf(separator, "joinAndTruncate"));
      const limit = Number(most);
      return limit > 0 && text.length > limit ? `${text.slice(0, Math.max(limit - 3, 0))}...` : text;
    },
    config: ([name = ""]) => {
      if (textOf(name, "config").toLowerCase() === "asnumber") return String(asNumber ?? "unknown");
      throw new CtlError(`config: only "asnumber" can be asked for, not ${JSON.stringify(name)}`);
    },
  };
}

export function isTrue(value: Value): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof GoMap) return value.entries.size > 0;
  if (value instanceof GoFloat) return value.value !== 0;
  return (
    value instanceof GoStruct || (value !== null && value !== "" && value !== 0 && value !== 0n && value !== false)
  );
}

function lengthOf(value: Value): number {
  if (typeof value === "string") return new TextEncoder().encode(value).length;
  if (Array.isArray(value)) return value.length;
  if (value instanceof GoMap) return value.entries.size;
  throw new CtlError(`len of ${describe(value)}`);
}

function elementOf(value: Value, key: Value): Value {
  if (value instanceof GoMap) return value.entries.get(textOf(key, "index of a map")) ?? "";
  if (!Array.isArray(value)) throw new CtlError(`can't index item of ${describe(value)}`);
  const at = Number(key);
  const found: Value | undefined = typeof key === "number" ? value[at] : undefined;
  if (found !== undefined) return found;
  throw new CtlError(`index out of range: ${printValue(key)}`);
}

function sliceOf(value: Value, from: Value, to: Value | undefined): Value {
  if (typeof value !== "string" && !Array.isArray(value)) throw new CtlError(`slice of ${describe(value)}`);
  const [start, end] = [Number(from), to === undefined ? value.length : Number(to)];
  if (!(start >= 0 && start <= end && end <= value.length))
    throw new CtlError(`slice index out of range: ${start}:${end}`);
  return value.slice(start, end) as string | readonly Value[];
}

/** Spaces only between two values neither of which is text, as Go's Sprint has it. */
function printed(values: readonly Value[]): string {
  let text = "";
  for (const [index, value] of values.entries()) {
    const isBetween = index > 0 && typeof value !== "string" && typeof values[index - 1] !== "string";
    text += (isBetween ? " " : "") + printValue(value);
  }
  return text;
}

function isEqual(a: Value, b: Value): boolean {
  if (a === null || b === null) return a === b;
  if (isNumber(a) && isNumber(b)) return Number(a) === Number(b);
  if (typeof a !== typeof b || typeof a === "object") throw new CtlError("incompatible types for comparison");
  return a === b;
}

function compare(a: Value, b: Value): number {
  if (isNumber(a) && isNumber(b)) return Number(a) - Number(b);
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : a > b ? 1 : 0;
  throw new CtlError("incompatible types for comparison");
}

function isNumber(value: Value): value is number | bigint | GoFloat {
  return typeof value === "number" || typeof value === "bigint" || value instanceof GoFloat;
}

function joined(items: Value, separator: string): string {
  if (items === null) return "";
  if (items instanceof GoMap) {
    return [...items.entries]
      .map(([name, value]) => `${name}=${printValue(value)}`)
      .sort()
      .join(separator);
  }
  return Array.isArray(items) ? items.map(printValue).join(separator) : printValue(items);
}

function textOf(value: Value, where: string): string {
  if (typeof value === "string") return value;
  throw new CtlError(`${where}: expected text, found ${describe(value)}`);
}

function describe(value: Value): string {
  if (value === null) return "nil";
  if (value instanceof GoStruct) return `a ${value.typeName}`;
  if (value instanceof GoMap) return "a map";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
