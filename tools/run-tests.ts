// Runs the checks and the tests, and closes with one line that counts them: `N passed, N failed, N skipped`.
//   node tools/run-tests.ts [--quick] [PATTERN ...]
// --quick leaves out what needs a peer, a process or more than a moment (test/system, test/peers, test/fuzz and the like).
// A PATTERN runs only the test files whose path contains it, without the checks.
import { globSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { availableParallelism } from "node:os";
import { run } from "node:test";
import { runStep, type Step, steps } from "./steps.ts";
import { StuckFiles } from "./stuck-files.ts";

type Tally = { passed: number; failed: string[]; skipped: string[] };

const isQuick = process.argv.includes("--quick");
const patterns = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const tally: Tally = { passed: 0, failed: [], skipped: [] };

// Most test files are processes, and many start more: what one has compiled (and stripped of types) the next ones use.
const { directory: compileCache } = enableCompileCache();
if (compileCache !== undefined) process.env.NODE_COMPILE_CACHE = compileCache;

// The API server, etcd and the compilers are Go programs: they collect garbage less often, for a fifth less of their time.
process.env.GOGC ??= "400";

const files = testFiles();
console.log(`> node --test (${files.length} files)`);
// All at the same time, so that nobody's waiting leaves a core idle. The files in test/alone/ use the ports that a user's
// server would have: one by one, beside others that take the ports they are given.
await Promise.all([
  ...(patterns.length === 0 ? steps : []).map(tallyStep),
  runFiles(files.filter(isAlone), { concurrency: 1 }),
  runGroups(files.filter(isGrouped)),
  // More than there are cores, because what starts servers mostly waits for them.
  runFiles(
    files.filter((file) => !isAlone(file) && !isGrouped(file)),
    { concurrency: availableParallelism() + 2 },
  ),
]);
if (files.length === 0) tally.failed.push("no test files found: is this the repository root?");

if (tally.skipped.length > 0) console.log(`\nskipped:\n${tally.skipped.map((line) => `  ${line}`).join("\n")}`);
if (tally.failed.length > 0) console.log(`\nfailed:\n${tally.failed.map((line) => `  ${line}`).join("\n")}`);
console.log(`\n${tally.passed} passed, ${tally.failed.length} failed, ${tally.skipped.length} skipped`);
process.exit(tally.failed.length === 0 ? 0 : 1);

async function tallyStep(step: Step): Promise<void> {
  if (await runStep(step)) tally.passed += 1;
  else tally.failed.push(step.name);
}

function isAlone(file: string): boolean {
  return file.startsWith("test/alone/");
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
  if (isQuick) return found.filter((file) => !/^test\/(system|peers|fuzz|campaign|alone)\//.test(file));
  return found;
}

async function runFiles(batch: string[], how: { concurrency: number; argv?: string[] }): Promise<void> {
  if (batch.length === 0) return;
  using stuck = new StuckFiles(660_000); // a little more than a test is granted, whose report says more
  for await (const event of run({ files: batch, ...how, timeout: 600_000 })) {
    const { type, data } = event;
    stuck.note(event);
    if (type === "test:stdout" || type === "test:stderr") process.stdout.write((data as { message: string }).message);
    if (type !== "test:pass" && type !== "test:fail") continue;
    const result = data as TestResult;
    // A suite, or the file itself, is only the sum of its tests; counting it too would count them twice. A file that
    // fails by itself (it does not parse, it exits early) has no failing test to speak for it, so it is kept.
    const isSum = result.details.type === "suite" || result.file === undefined || result.name === result.file;
    const name = `${result.file?.replace(`${process.cwd()}/`, "") ?? ""}: ${result.name}`;
    if (type === "test:fail") {
      if (!isSum || result.details.error?.failureType !== "subtestsFailed") reportFailure(name, result);
    } else if (!isSum) {
      if (result.skip === undefined) reportPass(name, result);
      else tally.skipped.push(`${name} (${result.skip === true ? "no reason given" : result.skip})`);
    }
  }
}

type TestResult = {
  name: string;
  file?: string;
  skip?: string | boolean;
  details: { type?: string; duration_ms: number; error?: Error & { failureType?: string } };
};

function reportPass(name: string, result: TestResult): void {
  tally.passed += 1;
  console.log(`ok      ${name} (${result.details.duration_ms.toFixed(0)} ms)`);
}

function reportFailure(name: string, result: TestResult): void {
  tally.failed.push(name);
  const error = result.details.error;
  console.log(`FAILED  ${name}\n${error?.cause instanceof Error ? error.cause.stack : (error?.stack ?? error)}`);
}
