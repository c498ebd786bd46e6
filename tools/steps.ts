// The checks that read the source without running it, as a table: `npm run check` runs these and the tests that need
// no peer; `npm test` runs these and everything that can run on this machine.
import { spawnSync } from "node:child_process";

export type Step = { name: string; command: string; arguments: string[] };

export const steps: Step[] = [
  {
    name: "format and lint (biome)",
    command: "node_modules/.bin/biome",
    arguments: ["check", "--error-on-warnings", "."],
  },
  { name: "types (tsc)", command: "node_modules/.bin/tsc", arguments: ["--noEmit"] },
  { name: "types of the page (tsc)", command: "node_modules/.bin/tsc", arguments: ["--noEmit", "-p", "web"] },
  { name: "layers", command: process.execPath, arguments: ["tools/check-layers.ts"] },
  { name: "licences", command: process.execPath, arguments: ["tools/release/licences.ts"] },
];

export function runStep(step: Step): boolean {
  console.log(`\n> ${[step.command, ...step.arguments].join(" ").replace(`${process.cwd()}/`, "")}`);
  const startedMs = performance.now();
  const { status, error } = spawnSync(step.command, step.arguments, { stdio: "inherit" });
  if (error !== undefined) console.error(`${step.name}: ${error.message}. Has "npm ci" been run?`);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(`${status === 0 ? "ok" : "FAILED"}: ${step.name} (${seconds} s)`);
  return status === 0;
}
