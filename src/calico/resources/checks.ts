// What is filled into an object before it is written, and which of its fields break a rule. The kinds say both; this is the
// shape in which writing asks.
import type { Fault } from "./resource-error.ts";
import type { V3Object } from "./v3-object.ts";

export type Checks = {
  withDefaults(object: V3Object): V3Object;
  /** All that is wrong, in the original's order. */
  faults(object: V3Object): readonly Fault[];
};

export const noChecks: Checks = { withDefaults: (object) => object, faults: () => [] };
