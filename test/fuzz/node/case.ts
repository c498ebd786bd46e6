// What a target of the fuzzer is: something that makes cases, each an input and what reads it.
import type { Random } from "../../kit/random.ts";

export type Case = { readonly input: string; readonly read: () => void };
export type Targets = { readonly [target: string]: () => (random: Random) => Case };

/** A case that was read, and wrongly. */
export class BrokenOut extends Error {}
