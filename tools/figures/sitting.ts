// What one sitting of `npm run figures` leaves behind: bench/results/DATE.json. A step that was measured again later, alone,
// replaces the older one: readers take the newest of each step over all files.
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import type { Circumstances, Recorded } from "../../test/kit/record.ts";

export type StepResult = Circumstances & {
  readonly outcome: "passed" | "failed" | "too long";
  readonly seconds: number;
  readonly records: readonly Recorded[];
};
export type Sitting = { readonly steps: { readonly [name: string]: StepResult } };

export const resultsFolder = "bench/results";

export function readSitting(file: string): Sitting {
  if (!existsSync(file)) return { steps: {} };
  return JSON.parse(readFileSync(file, "utf8")) as Sitting; // written below
}

export function writeStep(file: string, name: string, result: StepResult): void {
  const steps = { ...readSitting(file).steps, [name]: result };
  writeFileSync(file, `${JSON.stringify({ steps }, undefined, 1)}\n`);
}

/** The newest result of each step. The files' names are dates, so the last one by name is the newest. */
export function newestResults(folder = resultsFolder): Sitting {
  const files = globSync(`${folder}/*.json`).sort();
  return { steps: Object.assign({}, ...files.map((file) => readSitting(file).steps)) };
}

/** The lines that `record` wrote: the circumstances once, and what was measured. */
export function parseRecords(lines: string): { records: Recorded[]; circumstances: Circumstances | undefined } {
  const parsed = lines.split("\n").filter((line) => line !== "");
  const all = parsed.map((line) => JSON.parse(line) as Recorded & Circumstances); // written by test/kit/record.ts
  const records = all.map(({ of, seed, figures }) => (seed === undefined ? { of, figures } : { of, seed, figures }));
  return { records, circumstances: all[0] };
}
