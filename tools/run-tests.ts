// Runs the checks and the tests, and closes with one line that counts them: `N passed, N failed, N skipped`.
//   node tools/run-tests.ts [--quick | --all [--rest]] [PATTERN ...]
// Without a flag (npm test): everything but the walks, which take minutes, and a part of the longest suite.
// --quick (npm run check): leaves out what needs a peer, a process or more than a moment as well.
// --all (npm run test:all): everything; with --rest only what a run without a flag leaves out.
// A PATTERN runs only the test files whose path contains it, the walks among them, without the checks.
// CATTAIL_SEED brings back the cases of a property test that failed: it prints its seed.
import { globSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { availableParallelism } from "node:os";
import { run } from "node:test";
import { ownTraces } from "./left-behind.ts";
import { isAlone, isWanted, type Part } from "./parts-of-tests.ts";
import { runStep, type Step, steps } from "./steps.ts";
import { StuckFiles } from "./stuck-files.ts";

type Outcome = { passed: number; failed: string[]; skipped: string[]; foundBySeed: boolean };

const has = (flag: string): boolean => process.argv.includes(flag);
const part: Part = has("--rest") ? "rest" : has("--all") ? "all" : has("--quick") ? "quick" : "usual";
const patterns = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
/** By file, so that a file that is run again is counted once. */
const outcomes = new Map<string, Outcome>();

// Most test files are processes, and many start more: what one has compiled (and stripped of types) the next ones use.
const { directory: compileCache } = enableCompileCache();
if (compileCache !== undefined) process.env.NODE_COMPILE_CACHE = compileCache;

// The API server, etcd and the compilers are Go programs: they collect garbage less often, for a fifth less of their time.
process.env.GOGC ??= "400";

const mostRunAgain = 4;

// Whoever brings back a failure has all property tests begin with the same seed.
const execArgv = process.env.CATTAIL_SEED === undefined ? [] : ["--import", `${import.meta.dirname}/property-seed.ts`];

// A file that is run by its name runs whole.
process.env.CATTAIL_TEST_PART = patterns.length > 0 ? "all" : part;

const tracesBefore = ownTraces();
const files = testFiles();
console.log(`> node --test (${files.length} files)`);
// All at the same time, so that nobody's waiting leaves a core idle.
await Promise.all([
  ...(patterns.length === 0 && part !== "rest" ? steps : []).map(tallyStep),
  runFiles(files.filter(isAlone), { concurrency: 1 }),
  runGroups(files.filter(isGrouped)),
  // More than there are cores, because what starts servers mostly waits for them.
  runFiles(
    files.filter((file) => !isAlone(file) && !isGrouped(file)),
    { concurrency: availableParallelism() + 2 },
  ),
]);
const unsteady = await runFailedAlone();
for (const trace of ownTraces().difference(tracesBefore)) outcomeOf("").failed.push(`left on this machine: ${trace}`);
if (files.length === 0) outcomeOf("").failed.push("no test files found: is this the repository root?");

const all = [...outcomes.values()];
const failed = all.flatMap((outcome) => outcome.failed);
const skipped = all.flatMap((outcome) => outcome.skipped);
printList("skipped", skipped);
printList("failed beside others and passed alone; each is a fault of the test or of what it tests", unsteady);
printList("failed", failed);
const passed = all.reduce((sum, outcome) => sum + outcome.passed, 0);
console.log(`\n${passed} passed, ${failed.length} failed, ${skipped.length} skipped`);
process.exit(failed.length === 0 ? 0 : 1);

function printList(title: string, lines: readonly string[]): void {
  if (lines.length > 0) console.log(`\n${title}:\n${lines.map((line) => `  ${line}`).join("\n")}`);
}

function outcomeOf(file: string): Outcome {
  return outcomes.getOrInsertComputed(file, () => ({ passed: 0, failed: [], skipped: [], foundBySeed: false }));
}

async function tallyStep(step: Step): Promise<void> {
  if (await runStep(step)) outcomeOf("").passed += 1;
  else outcomeOf("").failed.push(step.name);
}

/**
 * Pings, kills and packets on a machine with other tests beside them meet pauses that no user's machine has. So a file
 * that failed, of test/ or about the kernel, is run once more, alone, and what it does then counts; what it did before is
 * listed. Where many fail, something is broken, and none is run again. What a random case has found stands: another
 * seed would only pass it by.
 */
async function runFailedAlone(): Promise<string[]> {
  const again = files.filter((file) => {
    const { failed, foundBySeed } = outcomeOf(file);
    return /^test\/|\.kernel\.test\.ts$/.test(file) && failed.length > 0 && !foundBySeed;
  });
  if (patterns.length > 0 || again.length > mostRunAgain) return [];
  const before = again.map((file) => ({ file, failed: outcomeOf(file).failed }));
  for (const file of again) {
    console.log(`\n> again, alone: ${file}`);
    outcomes.delete(file);
    await runFiles([file], { concurrency: 1 });
  }
  return before.flatMap(({ file, failed }) => (outcomeOf(file).failed.length === 0 ? failed : []));
}

/** Those beside the code share a process for each folder. Whoever asks for some files gets each by itself. */
function isGrouped(file: string): boolean {
  return patterns.length === 0 && file.startsWith("src/");
}

async function runGroups(grouped: string[]): Promise<void> {
  const folders = Map.groupBy(grouped, (file) => file.split("/").slice(1, 3).join("/"));
  for (const argv of folders.values()) await runFiles(["tools/test-group.ts"], { concurrency: 1, argv });
}

function testFiles(): string[] {
  // The long ones are in test/: begun first, they do not keep a core waiting at the end.
  const found = ["test", "src", "tools"].flatMap((folder) => globSync(`${folder}/**/*.test.ts`).sort());
  if (patterns.length > 0) return found.filter((file) => patterns.some((pattern) => file.includes(pattern)));
  return found.filter((file) => isWanted(file, part));
}

async function runFiles(batch: string[], how: { concurrency: number; argv?: string[] }): Promise<void> {
  if (batch.length === 0) return;
  using stuck = new StuckFiles(660_000); // a little more than a test is granted, whose report says more
  for await (const event of run({ files: batch, ...how, execArgv, timeout: 600_000 })) {
    const { type, data } = event;
    stuck.note(event);
    if (type === "test:stdout" || type === "test:stderr") process.stdout.write((data as { message: string }).message);
    if (type !== "test:pass" && type !== "test:fail") continue;
    const result = data as TestResult;
    // A suite, or the file itself, is only the sum of its tests; counting it too would count them twice. A file that
    // fails by itself (it does not parse, it exits early) has no failing test to speak for it, so it is kept.
    const isSum = result.details.type === "suite" || result.file === undefined || result.name === result.file;
    // A test that stands in a file of the kit belongs to the file that was run, where only one was.
    const only = batch.length === 1 && how.argv === undefined ? batch[0] : undefined;
    const file = only ?? result.file?.replace(`${process.cwd()}/`, "") ?? "";
    const outcome = outcomeOf(file);
    const name = `${result.file?.replace(`${process.cwd()}/`, "") ?? ""}: ${result.name}`;
    if (type === "test:fail") {
      if (!isSum || result.details.error?.failureType !== "subtestsFailed") reportFailure(outcome, name, result);
    } else if (!isSum) {
      if (result.skip === undefined) reportPass(outcome, name, result);
      else if (typeof result.skip === "string") outcome.skipped.push(`${name} (${result.skip})`);
      else reportFailure(outcome, `${name}: skipped without a reason`, result);
    }
  }
}

type TestResult = {
  name: string;
  file?: string;
  skip?: string | boolean;
  details: { type?: string; duration_ms: number; error?: Error & { failureType?: string } };
};

function reportPass(outcome: Outcome, name: string, result: TestResult): void {
  outcome.passed += 1;
  console.log(`ok      ${name} (${result.details.duration_ms.toFixed(0)} ms)`);
}

function reportFailure(outcome: Outcome, name: string, result: TestResult): void {
  outcome.failed.push(name);
  const error = result.details.error;
  const said = `${error?.cause instanceof Error ? error.cause.stack : (error?.stack ?? error)}`;
  outcome.foundBySeed ||= /\bseed\b/i.test(said);
  console.log(`FAILED  ${name}\n${said}`);
}
