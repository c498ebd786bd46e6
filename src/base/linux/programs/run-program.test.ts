// What a program says comes back whole; what it does wrong comes back as an error; and nothing outlives its limits.
import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { eventually } from "../../../../test/kit/eventually.ts";
import { freshNamespace, noNamespaces } from "../../../../test/kit/namespace.ts";
import { runProgram } from "./run-program.ts";

const folder = mkdtempSync(join(tmpdir(), "cattail-program-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const sh = (script: string, options?: Parameters<typeof runProgram>[2]) => runProgram("sh", ["-c", script], options);

test("output, error output and exit code come back", async () => {
  deepEqual(await sh("echo out; echo err >&2; exit 3", { alsoGood: [3] }), {
    code: 3,
    stdout: "out\n",
    stderr: "err\n",
  });
});

test("arguments and input are not looked at by any shell", async () => {
  const hostile = `a b"c'$(touch ${folder}/no);\`id\`*\n`;
  equal((await runProgram("printf", ["%s", hostile])).stdout, hostile);
  equal((await runProgram("cat", [], { stdin: hostile })).stdout, hostile);
  ok(!existsSync(join(folder, "no")));
});

test("variables and folder are the ones that were given", async () => {
  const { stdout } = await sh("echo $A $HOME; pwd", { env: { A: "1", PATH: process.env.PATH ?? "" }, cwd: "/" });
  equal(stdout, "1\n/\n");
});

test("a program that does not read its input is no error", async () => {
  equal((await runProgram("true", [], { stdin: "x".repeat(1 << 20) })).code, 0);
});

const failures: { name: string; run: () => Promise<unknown>; code: string; says: RegExp }[] = [
  {
    name: "a failure has exit code and last words",
    run: () => sh("for i in $(seq 1 30); do echo line $i >&2; done; exit 4"),
    code: "PROGRAM_FAILED",
    says: /^sh ended with exit code 4:\nline 21\n(line 2\d\n)+line 30\n\. Its own words/,
  },
  {
    name: "what would move a terminal's cursor is spelled out",
    run: () => sh("printf '\\033[2Jgone' >&2; exit 1"),
    code: "PROGRAM_FAILED",
    says: /\\u001b\[2Jgone/,
  },
  { name: "a signal is named", run: () => sh("kill -SEGV $$"), code: "PROGRAM_FAILED", says: /was killed by SIGSEGV/ },
  {
    name: "a program that is not there",
    run: () => runProgram("cattail-no-such-program"),
    code: "PROGRAM_NOT_FOUND",
    says: /cattail-no-such-program is in no folder of PATH .*Install it/,
  },
  {
    name: "a path at which there is nothing",
    run: () => runProgram("/cattail/no-such-program"),
    code: "PROGRAM_NOT_FOUND",
    says: /cannot be run \(ENOENT\)/,
  },
  {
    name: "a program in the folder one is in, which PATH names only by being empty",
    run: () => {
      writeFileSync(join(folder, "planted"), "#!/bin/sh\n", { mode: 0o755 });
      return runProgram("planted", [], { cwd: folder, env: { PATH: ":.:relative" } });
    },
    code: "PROGRAM_NOT_FOUND",
    says: /planted is in no folder of PATH/,
  },
  {
    name: "a file that is not a program",
    run: () => {
      writeFileSync(join(folder, "text"), "text", { mode: 0o644 });
      return runProgram(join(folder, "text"));
    },
    code: "PROGRAM_NOT_FOUND",
    says: /EACCES.*executable/,
  },
  {
    name: "too much output",
    run: () => runProgram("yes", [], { maxOutputBytes: 10_000 }),
    code: "PROGRAM_OUTPUT",
    says: /printed more than 10000 bytes/,
  },
  {
    name: "too much time",
    run: () => sh("echo waiting >&2; sleep 60", { limitMs: 300 }),
    code: "PROGRAM_TIMEOUT",
    says: /did not end within 300 ms and was killed/,
  },
];
for (const { name, run, code, says } of failures) {
  test(`failed: ${name}`, async () => {
    await rejects(run(), (error) => {
      equal((error as { code?: string }).code, code);
      match((error as Error).message, says);
      return true;
    });
  });
}

test("what a program started ends with it, even if it ignores being asked to", async () => {
  const pidFile = join(folder, "pid");
  const script = `sh -c 'trap "" TERM; echo $$ > ${pidFile}; while :; do sleep 1; done' & wait`;
  await rejects(sh(script, { limitMs: 1_000, killAfterMs: 100 }), { code: "PROGRAM_TIMEOUT" });
  const pid = readFileSync(pidFile, "utf8").trim();
  // Without an init that waits for orphans a dead process stays as a zombie.
  const isGone = () => !existsSync(`/proc/${pid}`) || /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  await eventually(isGone, `process ${pid} to end`);
});

test("what it leaves running is not waited for", async () => {
  const started = performance.now();
  equal((await sh("sleep 30 & echo done")).stdout, "done\n");
  ok(performance.now() - started < 20_000);
});

test("an abort ends it and is what is thrown", async () => {
  const stop = new AbortController();
  const running = sh("sleep 60", { signal: stop.signal });
  stop.abort(new Error("not needed any more"));
  await rejects(running, /not needed any more/);
  await rejects(sh("true", { signal: stop.signal }), /not needed any more/);
});

test("it runs in the namespace that was asked for, and only it", { skip: noNamespaces }, async () => {
  const { path } = freshNamespace();
  const namespaceOf = async (namespace?: string) =>
    (await runProgram("readlink", ["/proc/self/ns/net"], { namespace })).stdout;
  const here = await namespaceOf();
  const there = await namespaceOf(path);
  ok(there !== here);
  equal(await namespaceOf(), here);
  equal((await runProgram("ip", ["-br", "link"], { namespace: path })).stdout.split(/\s/)[0], "lo");
});
