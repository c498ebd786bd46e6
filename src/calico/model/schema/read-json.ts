// Reads parsed JSON that nobody has checked: own members only, null as absent (as Go reads it), types checked. What does
// not fit throws a FieldError, which says where and what was expected; convert/processor/processor.ts makes it a value again.
// Throwing keeps the good path free of result objects: this runs for every pod.

import { isRecord, type JsonRecord } from "../../../base/lib/index.ts";

export { isRecord, type JsonRecord } from "../../../base/lib/index.ts";

export class FieldError extends Error {
  readonly field: string;
  readonly rule: string;

  constructor(field: string, rule: string) {
    super(`${field === "" ? "the object" : field}: ${rule}`);
    this.name = "FieldError";
    this.field = field;
    this.rule = rule;
  }
}

export function recordOf(value: unknown, at: string): JsonRecord {
  if (isRecord(value)) return value;
  throw new FieldError(at, "must be an object");
}

/** The member itself; undefined where it is missing or null. */
export function member(record: JsonRecord, name: string): unknown {
  return Object.hasOwn(record, name) ? (record[name] ?? undefined) : undefined;
}

export function stringAt(record: JsonRecord, name: string, at: string): string | undefined {
  const value = member(record, name);
  if (value === undefined || typeof value === "string") return value;
  throw new FieldError(join(at, name), "must be a string");
}

export type IntegerRange = { readonly min: number; readonly max: number };
export const int32: IntegerRange = { min: -2147483648, max: 2147483647 };
export const uint16: IntegerRange = { min: 0, max: 65535 };
export const uint32: IntegerRange = { min: 0, max: 4294967295 };

/** Beyond what a double holds exactly. */
export type WideRange = { readonly min: bigint; readonly max: bigint };
/** Go's int, too. */
export const int64: WideRange = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
export const uint64: WideRange = { min: 0n, max: 2n ** 64n - 1n };

const none: readonly never[] = [];
const noMembers: JsonRecord = {};

/** An empty list where the member is missing. */
export function listAt(record: JsonRecord, name: string, at: string): readonly unknown[] {
  const value = member(record, name);
  if (value === undefined) return none;
  if (Array.isArray(value)) return value;
  throw new FieldError(join(at, name), "must be a list");
}

/** An object without members where it is missing. */
export function recordAt(record: JsonRecord, name: string, at: string): JsonRecord {
  const value = member(record, name);
  return value === undefined ? noMembers : recordOf(value, join(at, name));
}

export function stringListAt(record: JsonRecord, name: string, at: string): readonly string[] {
  const values = listAt(record, name, at);
  for (let index = 0; index < values.length; index++) {
    if (typeof values[index] !== "string") throw new FieldError(`${join(at, name)}[${index}]`, "must be a string");
  }
  return values as readonly string[]; // each element was just checked
}

export type StringMap = { readonly [name: string]: string };

/** A string-to-string map (labels, annotations); undefined where it is missing. */
export function stringMapAt(record: JsonRecord, name: string, at: string): StringMap | undefined {
  const value = member(record, name);
  if (value === undefined) return undefined;
  const map = recordOf(value, join(at, name));
  for (const key in map) {
    if (typeof map[key] !== "string")
      throw new FieldError(`${join(at, name)}[${JSON.stringify(key)}]`, "must be a string");
  }
  // JSON.parse makes it an own member; copying it into another object would set that object's prototype instead.
  if (Object.hasOwn(map, "__proto__")) throw new FieldError(join(at, name), 'must not have a key "__proto__"');
  return map as StringMap; // each member was just checked
}

export function join(at: string, name: string): string {
  return at === "" ? name : `${at}.${name}`;
}

/** Deeper than any Kubernetes object, shallow enough for every recursive reader. */
const maxJsonDepth = 100;

/**
 * The value without null members and with each object's own members only, safe to hand to recursive code: depth is
 * bounded, numbers are finite, and no key can reach a prototype. Nearly everything is clean as it comes, and stays itself.
 */
export function cleanJson(value: unknown, at = ""): unknown {
  return isClean(value, 0) ? value : cleanCopy(value, at, 0);
}

function isClean(value: unknown, depth: number): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object") return true;
  if (value === null) return depth === 0;
  if (depth >= maxJsonDepth) return false;
  if (Array.isArray(value)) {
    for (const element of value) if (element !== null && !isClean(element, depth + 1)) return false;
    return true;
  }
  // Of an object that JSON.parse made, "in" names own members only.
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  for (const name in value) {
    const inner = (value as JsonRecord)[name]; // an object that is no array has string keys
    if (name === "__proto__" || inner === null || inner === undefined || !isClean(inner, depth + 1)) return false;
  }
  return true;
}

function cleanCopy(value: unknown, at: string, depth: number): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) throw new FieldError(at, "is a number too large to hold");
  if (typeof value !== "object" || value === null) return value;
  if (depth >= maxJsonDepth) throw new FieldError(at.slice(0, 200), `is nested more than ${maxJsonDepth} deep`);
  if (Array.isArray(value)) return value.map((element, index) => cleanCopy(element, `${at}[${index}]`, depth + 1));
  const copy: { [name: string]: unknown } = {};
  for (const name of Object.keys(value)) {
    if (name === "__proto__") throw new FieldError(at, 'must not have a key "__proto__"');
    const inner = (value as JsonRecord)[name]; // as above
    if (inner !== null && inner !== undefined) copy[name] = cleanCopy(inner, join(at, name), depth + 1);
  }
  return copy;
}
