// The checks that read the source without running it, as a table: `npm run check` runs these and the tests that need
// no peer; `npm test` runs these and everything that can run on this machine.
import { spawn } from "node:child_process";

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

/** What it says is kept until it ends, and then shown in one piece: other things run beside it. */
export async function runStep(step: Step): Promise<boolean> {
  const startedMs = performance.now();
  const { status, output } = await runToEnd(step);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const line = [step.command, ...step.arguments].join(" ").replace(`${process.cwd()}/`, "");
  console.log(`\n> ${line}\n${output}${status === 0 ? "ok" : "FAILED"}: ${step.name} (${seconds} s)`);
  return status === 0;
}

function runToEnd(step: Step): Promise<{ status: number | null; output: string }> {
  return new Promise((done) => {
    const child = spawn(step.command, step.arguments, { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk));
    child.on("error", (error) => (output += `${error.message}. Has "npm ci" been run?\n`));
    child.on("close", (status) => done({ status, output }));
  });
}
