// What a decoder accepts from a peer it does not trust. On by default; every one can be set.
import { GobError } from "../error.ts";

/** What a decoder accepts of a peer before it refuses. */
export type GobLimits = {
  /** Bytes of one message: every frame from the end of the message before, type definitions included. */
  messageBytes: number;
  /** Type definitions in one stream, and frames in which its values go on: Go cuts a value only where it defines a type. */
  types: number;
  /** Fields in one struct definition. */
  fields: number;
  /** Nesting of structs, slices, arrays, maps and interfaces in one value. */
  depth: number;
  /**
   * Elements of slices, arrays and maps in one message, counted before any is made; those of an array that was left out
   * because all are zero count too. An element takes a byte to send and can take a hundred to hold.
   */
  elements: number;
};

/** The limits that hold unless others are given. */
export const defaultGobLimits: Readonly<GobLimits> = {
  messageBytes: 1_048_576,
  types: 64,
  fields: 4096,
  depth: 32,
  elements: 262_144,
};

export function withDefaults(limits: Partial<GobLimits>): GobLimits {
  const merged = { ...defaultGobLimits, ...limits };
  for (const [name, value] of Object.entries(merged)) {
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new GobError("GOB_SCHEMA", `limits.${name} must be a whole number of at least 0, not ${value}`);
    }
  }
  return merged;
}
