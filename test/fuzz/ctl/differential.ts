// Random commands, ours next to the original's: the same steps on the same datastore, emptied in between, must print the same and leave
// the same behind. What the original does with a fault of its own is not looked at (permitted.ts).
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import type { GoldenCase } from "../../conformance/ctl/case.ts";
import { differences } from "../../conformance/ctl/compare.ts";
import type { Program } from "../../conformance/ctl/programs.ts";
import { runCase } from "../../conformance/ctl/run-case.ts";
import type { Store } from "../../conformance/ctl/store.ts";
import { permitted } from "./permitted.ts";
import { type CaseOptions, type RandomCase, randomCase } from "./random-case.ts";

export type Trial = CaseOptions & {
  readonly seed: number;
  readonly store: Store;
  readonly ours: Program;
  readonly original: Program;
};

export type Found = { readonly golden: GoldenCase; readonly differences: readonly string[] };

/** One case of this seed, run twice. */
export async function tryOne({ seed, store, ours, original, on, oddness }: Trial): Promise<Found> {
  const [drawn] = fc.sample(randomCase({ on, oddness }), { seed, numRuns: 1 });
  if (drawn === undefined) throw new Error("no case was drawn");
  const folder = mkdtempSync(join(tmpdir(), "cattail-ctl-fuzz-"));
  try {
    writeFiles(folder, drawn);
    const blank = { name: `seed ${seed}`, folder, about: "", on, keepAll: false, expected: { steps: [] } };
    const given: GoldenCase = { ...blank, steps: drawn.steps, initial: drawn.initial };
    const want = await runCase(given, original, store);
    const got = await runCase(given, ours, store);
    const golden = { ...given, expected: want };
    return { golden, differences: differences(golden, ...permitted(golden, want, got)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeFiles(folder: string, { files }: RandomCase): void {
  mkdirSync(join(folder, "in"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, "in", name)), { recursive: true });
    writeFileSync(join(folder, "in", name), text);
  }
}
