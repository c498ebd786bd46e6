// Runs every campaign and every bench, one after the other, and keeps what they measured:
//   npm run figures -- [--short] [--benches | --campaigns] [--only NAME,NAME] [--except NAME,NAME] [--resume] [--side-by-side N] [--out FILE] [--list]
//     [--original calico] [--original-plugins FOLDER] [--original-confd FOLDER] [--original-bird FOLDER] [--release FOLDER] [--against CMD]
// The result is bench/results/DATE.json (with --short: .cache/figures-short.json, which git ignores), written after each step,
// so that a sitting that was interrupted goes on with --resume: what passed is not run again, what failed is. DATE is the day on which the
// command starts; to go on after midnight, name the file: --resume --out bench/results/DATE.json. `npm run plots` makes pages and plots of it. With
// --original (the original's combined program) and its like every bench is measured of the original as well; --against names another Typha than
// the original's, --release a checkout of release 0.1. Campaigns ask whether it is right and not how fast it is: --side-by-side runs so many of them
// at once, after the benches; what each says is then in .cache/figures/NAME.log. Where they lie is this machine's affair and not kept. On a machine that does something else
// as well the times are those of two things at once: the load at the start is kept beside them.
import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { circumstances } from "../../test/kit/record.ts";
import { parseRecords, readSitting, resultsFolder, type StepResult, writeStep } from "./sitting.ts";
import { type FigureStep, type Originals, wordsOf } from "./step.ts";
import { figureSteps } from "./steps.ts";

const { values: flags } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    benches: { type: "boolean", default: false },
    campaigns: { type: "boolean", default: false },
    only: { type: "string" },
    except: { type: "string" },
    resume: { type: "boolean", default: false },
    "side-by-side": { type: "string", default: "1" },
    out: { type: "string" },
    list: { type: "boolean", default: false },
    against: { type: "string" },
    original: { type: "string" },
    "original-plugins": { type: "string" },
    "original-confd": { type: "string" },
    "original-bird": { type: "string" },
    release: { type: "string" },
  },
});
const originals: Originals = {
  typha: flags.against ?? (flags.original === undefined ? undefined : `${flags.original} component typha`),
  program: flags.original,
  plugins: flags["original-plugins"],
  confd: flags["original-confd"],
  bird: flags["original-bird"],
  release: flags.release,
};
const defaultFile = flags.short ? ".cache/figures-short.json" : `${resultsFolder}/${today()}.json`;
const file = flags.out ?? defaultFile;
const steps = chosen();
const sideBySide = atOnce();
if (flags.list) {
  for (const step of steps)
    console.log(
      `${step.name.padEnd(12)} ${step.kind.padEnd(8)} ${`${step.aboutMinutes}`.padStart(4)} min  ${step.says}`,
    );
  const minutes = steps.reduce((sum, { aboutMinutes }) => sum + aboutMinutes, 0);
  console.log(`together about ${Math.round(minutes)} min on two cores`);
  process.exit(0);
}
mkdirSync(dirname(file), { recursive: true });
// Before the first step: afterwards it is our own doing.
const busy = Math.round((loadavg()[0] ?? 0) * 10) / 10;
if (busy > availableParallelism() / 2) {
  console.log(`note: the machine is busy (load ${busy}), so times will be upper bounds`);
}
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
const failed: string[] = [];
const campaigns = sideBySide === 1 ? [] : steps.filter(({ kind }) => kind === "campaign").values();
for (const step of steps) if (sideBySide === 1 || step.kind === "bench") await measure(step, 1);
await Promise.all(
  Array.from({ length: sideBySide }, async () => {
    for (const step of campaigns) await measure(step, sideBySide); // one iterator: each takes the next that nobody has taken
  }),
);
if (stop.signal.aborted) process.exit(130);
console.log(`\nwritten to ${file}${failed.length === 0 ? "" : `; not passed: ${failed.join(", ")}`}`);
process.exit(failed.length === 0 ? 0 : 1);

/** And keeps the result, unless it is there, or the sitting is over. */
async function measure(step: FigureStep, beside: number): Promise<void> {
  if (stop.signal.aborted) return;
  const at = `[${steps.indexOf(step) + 1}/${steps.length}] ${step.name}`;
  if (flags.resume && readSitting(file).steps[step.name]?.outcome === "passed") {
    console.log(`${at}: done before`);
    return;
  }
  const words = beside === 1 ? undefined : `.cache/figures/${step.name}.log`;
  const expected = flags.short ? "" : ` (about ${step.aboutMinutes} min, at most ${step.atMostMinutes * beside})`;
  console.log(`${beside === 1 ? "\n" : ""}${at}: ${step.says}${expected}${words === undefined ? "" : `, ${words}`}`);
  const result = await runStep(step, { beside, words });
  if (stop.signal.aborted) {
    console.log(`${at}: interrupted; --resume goes on with it`);
    return;
  }
  writeStep(file, step.name, result);
  console.log(`${at}: ${result.outcome}, ${result.records.length} results, ${result.seconds} s`);
  if (result.outcome !== "passed") failed.push(`${step.name} (${result.outcome})`);
}

/** `words` is the file that takes what it says; without one it says it here. */
async function runStep(step: FigureStep, how: { beside: number; words: string | undefined }): Promise<StepResult> {
  const folder = mkdtempSync(join(tmpdir(), "cattail-figures-"));
  const results = join(folder, "results.jsonl");
  const startMs = performance.now();
  const endMs = startMs + step.atMostMinutes * how.beside * 60_000;
  if (how.words !== undefined) mkdirSync(dirname(how.words), { recursive: true });
  const output = how.words === undefined ? "inherit" : openSync(how.words, "w");
  let outcome: StepResult["outcome"] = "passed";
  try {
    // One that fails takes nothing from the others: what was measured is kept, and the step has not passed.
    for (const { words } of commandsOf(step)) {
      const env = { ...process.env, ...(flags.short ? {} : step.env), ...ofOriginals(), RESULTS: results };
      if (outcome === "too long" || stop.signal.aborted) break;
      const ended = await runCommand(words, { env, limitMs: endMs - performance.now(), output });
      if (ended !== "passed") outcome = ended;
    }
    const lines = existsSync(results) ? readFileSync(results, "utf8") : "";
    const { records, circumstances: seen = circumstances() } = parseRecords(lines);
    // A bench that lacks its peer measures nothing, and must not pass for one that did.
    if (records.length === 0 && outcome === "passed") outcome = "failed";
    const commands = commandsOf(step).map((command) => asTyped(command, step));
    const { date, machine, versions } = seen;
    const seconds = Math.round((performance.now() - startMs) / 1000);
    return { outcome, command: commands.join("; "), date, machine, versions, load: busy, seconds, records };
  } finally {
    if (typeof output === "number") closeSync(output);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** In a group of its own, so that at the limit everything that it has started ends with it. */
async function runCommand(
  command: readonly string[],
  how: { env: NodeJS.ProcessEnv; limitMs: number; output: "inherit" | number },
): Promise<StepResult["outcome"]> {
  const { env, output } = how;
  const child = spawn(process.execPath, command, { env, stdio: ["ignore", output, output], detached: true });
  const { promise, resolve } = Promise.withResolvers<StepResult["outcome"]>();
  const end = (signal: NodeJS.Signals) => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, signal);
  };
  const interrupted = () => end("SIGTERM");
  stop.signal.addEventListener("abort", interrupted);
  let isTooLong = false;
  const timer = setTimeout(() => {
    isTooLong = true;
    end("SIGTERM");
    setTimeout(() => end("SIGKILL"), 5000).unref();
  }, how.limitMs);
  child.on("error", () => resolve("failed"));
  child.on("close", (code) => resolve(isTooLong ? "too long" : code === 0 ? "passed" : "failed"));
  const outcome = await promise;
  clearTimeout(timer);
  stop.signal.removeEventListener("abort", interrupted);
  return outcome;
}

/** Campaigns that work beside the original take it by a variable. */
function ofOriginals(): NodeJS.ProcessEnv {
  const { plugins } = originals;
  return plugins === undefined ? {} : { CATTAIL_ORIGINAL_IPAM: `${plugins}/calico-ipam` };
}

function commandsOf(step: FigureStep): { words: string[]; given: readonly string[] }[] {
  return (flags.short ? step.short : step.long).map((command) => {
    const given = step.against?.(originals, command) ?? [];
    return { words: [...wordsOf(command), ...given], given };
  });
}

/** Without the places of this machine. */
function asTyped({ words, given }: { words: string[]; given: readonly string[] }, step: FigureStep): string {
  const settings = flags.short ? [] : Object.entries(step.env ?? {}).map(([name, value]) => `${name}=${value} `);
  const places = new Set(given.filter((word) => !word.startsWith("--")));
  const quoted = words.map((word) => (places.has(word) ? "CMD" : word.includes(" ") ? `"${word}"` : word));
  return `${settings.join("")}node ${quoted.join(" ")}`;
}

function chosen(): readonly FigureStep[] {
  const only = flags.only?.split(",");
  const except = flags.except?.split(",") ?? [];
  const unknown = [...(only ?? []), ...except].filter((name) => !figureSteps.some((step) => step.name === name));
  if (unknown.length > 0) {
    console.error(
      `There is no step ${unknown.join(", ")}. There are: ${figureSteps.map(({ name }) => name).join(", ")}`,
    );
    process.exit(2);
  }
  const kinds = [...(flags.benches ? ["bench"] : []), ...(flags.campaigns ? ["campaign"] : [])];
  return figureSteps
    .filter(({ kind }) => kinds.length === 0 || kinds.includes(kind))
    .filter(({ name }) => (only === undefined || only.includes(name)) && !except.includes(name));
}

function atOnce(): number {
  const wanted = Number(flags["side-by-side"]);
  if (Number.isInteger(wanted) && wanted >= 1) return wanted;
  console.error(`--side-by-side is "${flags["side-by-side"]}"; it takes a number from 1 on`);
  process.exit(2);
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
