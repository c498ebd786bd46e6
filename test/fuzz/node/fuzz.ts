// Bends what a node reads from others, gives it to the readers, and looks at the texts that come of it. Each case is read, or refused with an error that
// says so; a TypeError is a reader that took something for granted.
import { seededRandom } from "../../kit/random.ts";
import { kernelBytes } from "./bytes.ts";
import { BrokenOut } from "./case.ts";
import { inputs } from "./inputs.ts";
import { texts } from "./texts.ts";

const targets = { ...inputs, ...kernelBytes, ...texts };
export type FuzzTarget = keyof typeof targets;
export const fuzzTargets = Object.keys(targets) as readonly FuzzTarget[]; // of the table above
export type Tally = { cases: number; read: number; refused: number };

/** Throws at the first case that breaks the rule, with the input. */
export function fuzzNode(target: FuzzTarget, options: { seed: number; cases: number }): Tally {
  const random = seededRandom(options.seed);
  const make = targets[target]();
  const tally: Tally = { cases: 0, read: 0, refused: 0 };
  for (; tally.cases < options.cases; tally.cases++) {
    const { input, read } = make(random);
    const started = process.cpuUsage(); // a busy machine may keep us waiting for longer than any case takes
    try {
      read();
      tally.read += 1;
    } catch (error) {
      if (!(error instanceof Error) || isMishap(error))
        throw new Error(`${String(error)} for ${input.slice(0, 4000)}`, { cause: error });
      tally.refused += 1;
    }
    const tookMs = process.cpuUsage(started).user / 1000;
    if (tookMs > 5_000) throw new Error(`${tookMs.toFixed(0)} ms for ${input.slice(0, 4000)}`);
  }
  return tally;
}

function isMishap(error: Error): boolean {
  return [TypeError, RangeError, ReferenceError, BrokenOut].some((kind) => error instanceof kind);
}
