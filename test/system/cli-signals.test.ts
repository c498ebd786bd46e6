// Signals and readers that come at the wrong moment, on the real process: before a server has started, while nobody reads
// its log, twice. None of them may be lost, end it with another exit code than docs/reference/exit-codes.md has, or leave
// anything behind.
import { deepEqual, doesNotMatch, equal, match, ok } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Cattail, type CattailOptions, probe } from "../kit/cattail-process.ts";
import { freePort } from "../kit/free-port.ts";
import { fullPipe } from "../kit/pipes.ts";
import { typhaSettings } from "../kit/typha-settings.ts";

const options = { timeout: 300_000 };

/** Node options that run this in the process before anything of ours. */
function before(program: string): string {
  return `--import=data:text/javascript,${encodeURIComponent(program)}`;
}

/** The process sends the signal to itself as it begins to load the file. */
function atLoading(file: string, signal: string): string {
  ok(existsSync(`src${file}`), `src${file} is gone: the signal would never be sent`);
  return before(`import { registerHooks } from "node:module";
    registerHooks({ load(url, context, next) {
      if (url.endsWith("${file}")) process.kill(process.pid, "${signal}");
      return next(url, context);
    } });`);
}

const launchers: { name: string; file: string; program?: string[] }[] = [
  { name: "before the server's modules are loaded", file: "/programs/typha/command.ts" },
  {
    name: "before the command line is loaded",
    file: "/programs/main/main.ts",
    program: [process.execPath, "bin/cattail"],
  },
];
for (const { name, file, program } of launchers) {
  const started = async (signal: string, more: { [name: string]: string } = {}) => {
    const env = await typhaSettings({ NODE_OPTIONS: atLoading(file, signal), ...more });
    return new Cattail(["typha"], { env, ...(program === undefined ? {} : { program }) });
  };

  for (const signal of ["SIGTERM", "SIGINT"]) {
    test(`${signal} ${name}: exit code 0`, options, async () => {
      await using typha = await started(signal);
      equal(await typha.ended, 0, typha.output);
      match(typha.output, new RegExp(`Shutting down.*${signal}`));
      doesNotMatch(typha.output, /could not start|Unexpected/);
    });
  }

  test(`SIGHUP ${name} is answered when there are TLS files to look at`, options, async () => {
    await using typha = await started("SIGHUP");
    await typha.says(/Looking at the TLS files.*SIGHUP/);
    await typha.says(/HTTP server listening/);
    typha.process.kill("SIGTERM");
    equal(await typha.ended, 0, typha.output);
  });

  test(`SIGUSR1 ${name} opens no debugger and writes its heap snapshot`, options, async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "early.heapsnapshot");
    await using typha = await started("SIGUSR1", { TYPHA_DEBUGMEMORYPROFILEPATH: path });
    await typha.says(/Heap snapshot written/);
    equal(existsSync(path), true);
    typha.process.kill("SIGTERM");
    equal(await typha.ended, 0, typha.output);
    doesNotMatch(typha.output, /Debugger/);
  });
}

const surprise = before(`process.on("SIGUSR2", () => { throw new Error("boo"); });`);
const stuck: { signal: NodeJS.Signals; code: number; what: string }[] = [
  { signal: "SIGTERM", code: 0, what: "ends when it is told to" },
  { signal: "SIGUSR2", code: 2, what: "ends at an error that nobody foresaw" },
];
for (const { signal, code, what } of stuck) {
  test(`a server whose log nobody reads starts, serves and ${what}`, options, async (context) => {
    using pipe = fullPipe();
    if (pipe === undefined) return context.skip("mkfifo is not installed");
    const levels = { TYPHA_LOGSEVERITYSCREEN: "DEBUG", TYPHA_EARLYLOGSEVERITYSCREEN: "debug" };
    const env = await typhaSettings({ ...levels, NODE_OPTIONS: surprise });
    await using typha = new Cattail(["typha"], { env, stdout: pipe.descriptor });
    await typha.until("readiness", async () => {
      const answer = await probe(`http://127.0.0.1:${env.TYPHA_HEALTHPORT}/readiness`);
      return answer?.status === 200 ? answer : undefined;
    });
    typha.process.kill(signal);
    equal(await typha.ended, code, typha.output);
  });
}

test("a log that nobody reads does not keep a server alive whose settings are wrong", options, async (context) => {
  using pipe = fullPipe();
  if (pipe === undefined) return context.skip("mkfifo is not installed");
  const env = await typhaSettings({ TYPHA_EARLYLOGSEVERITYSCREEN: "debug", TYPHA_SERVERPORT: "many" });
  await using typha = new Cattail(["typha"], { env, stdout: pipe.descriptor });
  equal(await typha.ended, 1, typha.output);
  match(typha.stderr, /SETTINGS_INVALID/);
});

async function demo(folder: string, more: CattailOptions = {}): Promise<Cattail> {
  const flags = ["--nodes", "3", "--pods", "6", "--port", `${await freePort()}`];
  return new Cattail(["demo", ...flags, "--dashboard-port", `${await freePort()}`], {
    ...more,
    env: { TMPDIR: folder, ...more.env },
  });
}

const interruptions: { when: string; says: RegExp; times: number }[] = [
  { when: "while it starts", says: /starting a simulated cluster/, times: 1 },
  { when: "twice while it starts", says: /starting a simulated cluster/, times: 2 },
  { when: "twice while it runs", says: /nodes in sync/, times: 2 },
];
for (const { when, says, times } of interruptions) {
  test(`Ctrl-C in the demo ${when}: exit code 0, and no keys are left`, options, async () => {
    using folder = temporaryFolder();
    await using started = await demo(folder.path);
    await started.says(says);
    for (let time = 0; time < times; time++) started.process.kill("SIGINT");
    equal(await started.ended, 0, started.output);
    equal(started.stderr, "");
    deepEqual(readdirSync(folder.path), []);
  });
}

test("a demo that writes to a full disk: exit code 1, and no keys are left", {
  ...options,
  skip: existsSync("/dev/full") ? false : "there is no /dev/full",
}, async () => {
  using folder = temporaryFolder();
  const stdout = openSync("/dev/full", "w");
  await using started = await demo(folder.path, { stdout });
  equal(await started.ended, 1, started.output);
  match(started.stderr, /OUTPUT_UNWRITABLE/);
  deepEqual(readdirSync(folder.path), []);
  closeSync(stdout);
});

function temporaryFolder(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), "cattail-signals-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}

test("a server that an older Node has started ends with it, even when that one is killed", options, async () => {
  const folder = mkdtempSync(join(tmpdir(), "cattail-starter-"));
  try {
    const settings = {
      TYPHA_DATASTORETYPE: "directory",
      TYPHA_DATASTOREDIRECTORY: folder,
      TYPHA_SERVERPORT: String(await freePort()),
      TYPHA_LOGFILEPATH: "none",
      TYPHA_HEALTHENABLED: "false",
    };
    // As bin/cattail starts it from an older Node; here the other end of the pipe is this process's.
    const server = spawn(process.execPath, ["--max-semi-space-size=4", "bin/cattail", "typha"], {
      stdio: ["ignore", "pipe", "ignore", "pipe"],
      env: { ...process.env, ...settings, CATTAIL_STARTER_PIPE: "3" },
    });
    const ended = once(server, "exit");
    const [, stdout, , starter] = server.stdio;
    ok(stdout !== null && starter !== null && starter !== undefined);
    await once(stdout, "data");
    starter.destroy();
    stdout.resume();
    deepEqual(await ended, [null, "SIGKILL"]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
