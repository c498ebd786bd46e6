// What the runner itself promises: a property that fails tells its seed, the seed brings the same case back, a test that is
// skipped for no reason is a failure, and nothing is left out of both parts. Tried in a folder of its own.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { isWanted, shared } from "../../tools/parts-of-tests.ts";
import { shareOf } from "../kit/share.ts";

const folder = mkdtempSync(join(tmpdir(), "cattail-runner-"));
after(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(join(folder, "test"));
symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
writeFileSync(join(folder, "package.json"), '{ "type": "module" }');

function runner(argument: string, seed?: string): { status: number | null; stdout: string } {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const own = seed === undefined ? env : { ...env, CATTAIL_SEED: seed };
  return spawnSync(process.execPath, [resolve("tools/run-tests.ts"), argument], {
    cwd: folder,
    env: own,
    encoding: "utf8",
  });
}

test("a property that fails prints its seed, and CATTAIL_SEED brings the same case back", () => {
  writeFileSync(
    join(folder, "test/property.test.ts"),
    `import fc from "fast-check";
import { test } from "node:test";
test("numbers are small", () => fc.assert(fc.property(fc.integer(), (n) => n < 1000)));`,
  );
  const seen = (text: string) => /seed: (-?\d+), path: "([\d:]+)"/.exec(text);
  const first = runner("property");
  equal(first.status, 1, first.stdout);
  const [, seed, path] = seen(first.stdout) ?? [];
  ok(seed !== undefined, first.stdout);
  const [, sameSeed, samePath] = seen(runner("property", seed).stdout) ?? [];
  deepEqual([sameSeed, samePath], [seed, path]);
});

test("a test that is skipped for no reason is a failure", () => {
  writeFileSync(
    join(folder, "test/skipped.test.ts"),
    `import { test } from "node:test";
test("one", { skip: true }, () => {});
test("two", { skip: "no reason is not this" }, () => {});`,
  );
  const { status, stdout } = runner("skipped");
  equal(status, 1);
  match(stdout, /skipped\.test\.ts: one: skipped without a reason/);
  match(stdout, /\n0 passed, 1 failed, 1 skipped\n$/);
});

test("a file that fails beside others is run again alone: what it does then counts, what it did before is said", () => {
  mkdirSync(join(folder, "test/walks"));
  const walk = (name: string, body: string) =>
    writeFileSync(join(folder, `test/walks/${name}.test.ts`), `import { test } from "node:test";\n${body}`);
  walk("steady", `test("one", () => {});`);
  walk("broken", `test("one", () => {});\ntest("two", () => { throw new Error("always"); });`);
  walk(
    "unsteady",
    `import { existsSync, writeFileSync } from "node:fs";
test("one", () => {});
test("two", () => { if (!existsSync("was-here")) { writeFileSync("was-here", ""); throw new Error("once"); } });`,
  );
  walk(
    "by-seed",
    `import { existsSync, writeFileSync } from "node:fs";
test("two", () => { if (!existsSync("seed-was-here")) { writeFileSync("seed-was-here", ""); throw new Error("seed 7 found it"); } });`,
  );
  const { status, stdout } = runner("--rest");
  equal(status, 1, stdout);
  match(
    stdout,
    /passed alone[^\n]*:\n {2}test\/walks\/unsteady\.test\.ts: two\n\nfailed:\n {2}test\/walks\/by-seed\.test\.ts: two\n {2}test\/walks\/broken\.test\.ts: two\n/,
  );
  match(stdout, /\n4 passed, 2 failed, 0 skipped\n$/);
});

test("each test file is run by npm test or by what it leaves out, and by both only a file that is shared out", () => {
  const files = globSync("{test,src,tools}/**/*.test.ts");
  const usual = files.filter((file) => isWanted(file, "usual"));
  const rest = files.filter((file) => isWanted(file, "rest"));
  ok(rest.length > 0);
  deepEqual([...new Set([...usual, ...rest])].sort(), files.filter((file) => isWanted(file, "all")).sort());
  deepEqual(
    usual.filter((file) => rest.includes(file)),
    shared,
  );
  deepEqual(
    files.filter((file) => isWanted(file, "quick") && !usual.includes(file)),
    [],
  );
});

test("the two shares of a suite are all of it, and nothing twice", () => {
  const cases = Array.from({ length: 101 }, (_, index) => index);
  const shares = [...shareOf(cases, "usual"), ...shareOf(cases, "rest")];
  deepEqual(
    shares.toSorted((a, b) => a - b),
    cases,
  );
  deepEqual(shareOf(cases, "all"), cases);
});

test("CONTRIBUTING.md names what npm test leaves out", () => {
  const page = readFileSync("CONTRIBUTING.md", "utf8");
  const left = globSync("{test,src,tools}/**/*.test.ts").filter((file) => isWanted(file, "rest"));
  deepEqual(
    left.filter((file) => !page.includes(file)),
    [],
  );
});
