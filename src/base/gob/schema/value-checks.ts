// Checks of what the type checker could not see: values that come from JSON, or from plain JavaScript.
import { GobError } from "../error.ts";

export function asObject(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) return mismatch("an object", value);
  return value as Record<string, unknown>; // any object can be asked for any name
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : mismatch("an array", value);
}

export function asMap(value: unknown): ReadonlyMap<unknown, unknown> {
  return value instanceof Map ? value : mismatch("a Map", value);
}

export function asBytes(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : mismatch("a Uint8Array", value);
}

export function asNumber(value: unknown): number {
  if (value === undefined) return 0;
  return typeof value === "number" ? value : mismatch("a number", value);
}

export function asComplex(value: unknown): { re: unknown; im: unknown } {
  const { re, im } = asObject(value ?? { re: 0, im: 0 });
  return { re, im };
}

export function mismatch(wanted: string, value: unknown): never {
  const seen = value === null ? "null" : Array.isArray(value) ? `an array of ${value.length}` : typeof value;
  const shown = typeof value === "number" || typeof value === "bigint" ? ` ${value}` : "";
  throw new GobError("GOB_VALUE", `wanted ${wanted}, got ${seen}${shown}`);
}

/** The same error with the field it was met in, so that the way to a bad value can be read from the outside in. */
export function inField(error: unknown, field: string): unknown {
  return error instanceof GobError ? new GobError(error.code, `${field}: ${error.problem}`, { cause: error }) : error;
}
