// The command that measures everything, on its smallest step: it keeps what was measured with what one needs to judge it,
// goes on where it was interrupted, and takes no bench that measured nothing for one that did.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { readSitting, writeStep } from "../../tools/figures/sitting.ts";

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "cattail-figures-test-"));
});
after(() => rmSync(folder, { recursive: true, force: true }));

function figures(...flags: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, ["tools/figures/run.ts", "--short", ...flags], { encoding: "utf8" });
}

test("a step is kept with its command, machine and versions, and --resume does not run it again", () => {
  const file = join(folder, "one.json");
  const first = figures("--only", "convert", "--out", file);
  equal(first.status, 0, first.stdout + first.stderr);
  const { convert } = readSitting(file).steps;
  equal(convert?.outcome, "passed");
  equal(convert?.records[0]?.figures.pods, 10_000);
  match(convert?.command ?? "", /^node bench\/convert\/pods\.ts --pods 10000$/);
  match(convert?.machine ?? "", /^\d+ x /);
  equal(convert?.versions.node, process.version);
  ok(convert !== undefined && convert.seconds >= 0);
  const kept = { ...convert, seconds: 12_345 };
  writeStep(file, "convert", kept);
  match(figures("--only", "convert", "--out", file, "--resume").stdout, /convert: done before/);
  equal(readSitting(file).steps.convert?.seconds, 12_345);
});

test("campaigns run side by side where that is asked for, and what each says is in a file of its own", () => {
  const file = join(folder, "beside.json");
  const { status, stdout, stderr } = figures("--only", "convert,fuzz,addresses", "--side-by-side", "2", "--out", file);
  equal(status, 0, stdout + stderr);
  const begun = (name: string) => stdout.search(new RegExp(`\\] ${name}: [^p]`));
  const ended = (name: string) => stdout.search(new RegExp(`\\] ${name}: passed, `));
  ok(ended("convert") < begun("fuzz"), "benches are alone");
  ok(begun("addresses") < ended("fuzz"), stdout);
  match(stdout, /\.cache\/figures\/fuzz\.log/);
  match(readFileSync(".cache/figures/fuzz.log", "utf8"), /20,?000/);
  for (const name of ["convert", "fuzz", "addresses"]) equal(readSitting(file).steps[name]?.outcome, "passed");
  const wrong = figures("--only", "convert", "--side-by-side", "none");
  deepEqual([wrong.status, wrong.stdout], [2, ""]);
});

test("a step that is not known stops it before anything runs", () => {
  const { status, stderr } = figures("--only", "convert,nonsense", "--out", join(folder, "two.json"));
  equal(status, 2);
  match(stderr, /There is no step nonsense\. There are: gob, /);
});

test("--list says what would run, and for how long", () => {
  const { status, stdout } = figures("--list", "--except", "faults");
  equal(status, 0);
  match(stdout, /^soak +campaign +[\d.]+ min {2}1,000,000 updates/m);
  ok(!stdout.includes("random faults"));
  match(stdout, /^together about \d+ min/m);
});

test("--benches and --campaigns choose by kind", () => {
  const [benches, campaigns] = ["--benches", "--campaigns"].map((flag) => figures("--list", flag).stdout);
  match(benches ?? "", /^fanout +bench/m);
  match(campaigns ?? "", /^soak +campaign/m);
  ok(!/^soak/m.test(benches ?? "") && !/^fanout/m.test(campaigns ?? ""));
});
