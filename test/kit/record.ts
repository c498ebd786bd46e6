// Keeps what a campaign or a bench has measured: with RESULTS=FILE each result is appended to FILE as a line of JSON, with
// what one needs to judge it or to measure it again. `npm run figures` sets RESULTS and gathers the lines.
import { execFileSync } from "node:child_process";
import { appendFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";
import { relative } from "node:path";
import { build } from "../../src/programs/shared/build.ts";

export type Figure = number | string | { readonly [name: string]: number };
export type Recorded = {
  /** Which of the things that this campaign or bench measures: a scenario, a server, a number of threads. */
  readonly of: string;
  readonly seed?: number | undefined;
  readonly figures: { readonly [name: string]: Figure };
};
export type Circumstances = {
  readonly command: string;
  readonly date: string;
  readonly machine: string;
  readonly versions: { readonly [name: string]: string };
  /** Processes that wanted a core in the last minute: more than the machine has cores means that times are upper bounds. */
  readonly load: number;
};

export function record(result: Recorded): void {
  const file = process.env.RESULTS;
  if (file === undefined || file === "") return;
  appendFileSync(file, `${JSON.stringify({ ...result, ...circumstances() })}\n`);
}

export function circumstances(): Circumstances {
  const cores = cpus();
  const memoryGb = Math.round(totalmem() / 2 ** 30);
  return {
    command: command(),
    date: new Date().toISOString().slice(0, 16),
    machine: `${cores.length} x ${cores[0]?.model.trim() ?? "unknown"}, ${memoryGb} GB, ${process.platform} ${release().split("-")[0]}`,
    versions: { ...ours(), ...languages() },
    load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
  };
}

function ours(): { [name: string]: string } {
  const { version, commit } = build();
  return { cattail: version.replace(/^v/, ""), commit };
}

function languages(): { [name: string]: string } {
  return { node: process.version, go: goVersion() };
}

/** As one would type it. A test file is run by another process, which knows the name that npm was given. */
function command(): string {
  const [, script = "", ...flags] = process.argv;
  const name = process.env.npm_lifecycle_event;
  const path = relative(process.cwd(), script);
  if (name === undefined || name === "npx") return ["node", path, ...flags].join(" ");
  return `npm run ${name}${flags.length === 0 ? "" : ` -- ${flags.join(" ")}`}`;
}

function goVersion(): string {
  try {
    return /go[\d.]+/.exec(execFileSync("go", ["version"], { encoding: "utf8", stdio: "pipe" }))?.[0] ?? "none";
  } catch {
    return "none"; // not installed
  }
}
