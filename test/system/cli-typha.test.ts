// The life of a `cattail typha` process: how it starts or refuses to, what each signal does, and the exit codes that
// docs/reference/exit-codes.md promises.
import { equal, match, ok } from "node:assert/strict";
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Cattail, cattail } from "../kit/cattail-process.ts";
import { certificateFolder, testAuthority } from "../kit/certificates.ts";
import { Followed } from "../kit/followed.ts";
import { type TyphaEnvironment, tlsSettings, typhaSettings } from "../kit/typha-settings.ts";

const options = { timeout: 300_000 };
const isUp = /HTTP server listening/;

async function start(more: TyphaEnvironment = {}) {
  const env = await typhaSettings(more);
  const typha = new Cattail(["typha"], { env });
  await typha.says(isUp);
  return { typha, servers: `127.0.0.1:${env.TYPHA_SERVERPORT}` };
}

async function startWithClients(count: number, more: TyphaEnvironment) {
  const stack = new AsyncDisposableStack();
  const { typha, servers } = await start(more);
  stack.use(typha);
  const clients = Array.from({ length: count }, (_, index) =>
    stack.use(new Followed({ servers, hostname: `node-${index}` })),
  );
  await Promise.all(clients.map((client) => client.inSync()));
  return { typha, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test("exit code 1: every wrong setting is listed by name, with what is allowed", options, async () => {
  const env = await typhaSettings({
    TYPHA_SERVERPORT: "many",
    TYPHA_LOGSEVERITYSCREEN: "loud",
    TYPHA_EARLYLOGSEVERITYSCREEN: "shrill",
  });
  const { code, stderr } = await cattail(["typha"], { env });
  equal(code, 1);
  match(stderr, /3 settings are wrong:/);
  for (const name of ["TYPHA_SERVERPORT", "TYPHA_LOGSEVERITYSCREEN", "TYPHA_EARLYLOGSEVERITYSCREEN"])
    match(stderr, new RegExp(`^  - .*${name}`, "m"));
  match(stderr, /--print-settings[\s\S]*SETTINGS_INVALID/);
});

test("exit code 1: a port that somebody has", options, async () => {
  using taken = await takenPort();
  const { port } = taken;
  const { code, stderr } = await cattail(["typha"], { env: await typhaSettings({ TYPHA_SERVERPORT: `${port}` }) });
  equal(code, 1);
  match(stderr, new RegExp(`port ${port}[\\s\\S]*TYPHA_SERVERPORT[\\s\\S]*SERVER_LISTEN`));
});

test("exit code 1: TLS files that cannot be used", options, async () => {
  using certificates = certificateFolder();
  writeFileSync(certificates.server.keyFile, testAuthority().server().keyPem); // of another pair
  const { code, stderr } = await cattail(["typha"], { env: await typhaSettings(tlsSettings(certificates)) });
  equal(code, 1);
  match(stderr, /typha\.key/);
});

test("exit code 0: SIGTERM hands the clients over and ends within the shutdown time", options, async () => {
  await using started = await startWithClients(3, { TYPHA_SHUTDOWNTIMEOUTSECS: "2" });
  started.typha.process.kill("SIGTERM");
  equal(await started.typha.ended, 0, started.typha.output);
  match(started.typha.output, /Shutting down gently[\s\S]*Typha stopped/);
});

test("exit code 0: a second signal ends it at once, whatever the shutdown time", options, async () => {
  const slow = { TYPHA_SHUTDOWNTIMEOUTSECS: "3000", TYPHA_SHUTDOWNCONNECTIONDROPINTERVALMAXSECS: "1000" };
  await using started = await startWithClients(2, slow);
  started.typha.process.kill("SIGTERM");
  await started.typha.says(/Shutting down gently/);
  started.typha.process.kill("SIGINT");
  equal(await started.typha.ended, 0, started.typha.output); // or the test's time is up
});

test("SIGHUP looks at the TLS files and ends nothing", options, async () => {
  const authority = testAuthority();
  using certificates = certificateFolder(authority);
  const { typha } = await start(tlsSettings(certificates));
  await using _ = typha;
  const { certPem, keyPem } = authority.server({ names: { commonName: "renewed" } });
  for (const [path, text] of [
    [certificates.server.certFile, certPem],
    [certificates.server.keyFile, keyPem],
  ] as const) {
    writeFileSync(`${path}.new`, text, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }
  typha.process.kill("SIGHUP");
  await typha.says(/Looking at the TLS files, as asked.*SIGHUP/);
  await typha.says(/TLS files reloaded.*renewed/);
  equal(typha.process.exitCode, null);
});

test("SIGUSR1 writes a heap snapshot to a file that is named for the local time", options, async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "heap-<timestamp>.heapsnapshot");
  const { typha } = await start({ TYPHA_DEBUGMEMORYPROFILEPATH: path, TZ: "Asia/Kolkata" });
  await using _ = typha;
  const beforeMs = Date.now();
  typha.process.kill("SIGUSR1");
  const [, written = ""] = await typha.says(/Heap snapshot written path="(.*)"/);
  ok(existsSync(written));
  const [, day = "", time = ""] = /heap-(\d{4}-\d\d-\d\d)-(\d\d:\d\d:\d\d)\.heapsnapshot$/.exec(written) ?? [];
  const namedMs = Date.parse(`${day}T${time}+05:30`);
  ok(namedMs >= beforeMs - 1000 && namedMs <= Date.now(), written);
});

test("a heap snapshot that cannot be written is a line in the log, and the server goes on", options, async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "missing", "heap.heapsnapshot");
  const { typha } = await start({ TYPHA_DEBUGMEMORYPROFILEPATH: path });
  await using _ = typha;
  typha.process.kill("SIGUSR1");
  await typha.says(/Heap snapshot not written .*missing/);
  equal(typha.process.exitCode, null);
});

const surprises: { name: string; program: string; what: RegExp }[] = [
  { name: "thrown", program: `throw new Error("boo")`, what: /uncaught exception/ },
  { name: "rejected", program: `Promise.reject(new Error("boo"))`, what: /unhandled rejection/ },
];
for (const { name, program, what } of surprises) {
  test(`exit code 2: an error that nobody foresaw is ${name}`, options, async () => {
    const hook = `data:text/javascript,${encodeURIComponent(`process.on("SIGUSR2", () => { ${program} });`)}`;
    const { typha } = await start({ NODE_OPTIONS: `--import=${hook}` });
    await using _ = typha;
    typha.process.kill("SIGUSR2");
    equal(await typha.ended, 2, typha.output);
    match(typha.output, /Unexpected error; the process ends/);
    match(typha.output, what);
    match(typha.output, /boo/);
  });
}

const early: { env: TyphaEnvironment; levels: string[] }[] = [
  { env: {}, levels: [] },
  { env: { TYPHA_EARLYLOGSEVERITYSCREEN: "info" }, levels: ["INFO"] },
  { env: { TYPHA_EARLYLOGSEVERITYSCREEN: "trace" }, levels: ["INFO", "DEBUG"] },
  { env: { TYPHA_LOGSEVERITYSCREEN: "Info" }, levels: ["INFO"] },
  { env: { TYPHA_EARLYLOGSEVERITYSCREEN: "error", TYPHA_LOGSEVERITYSCREEN: "debug" }, levels: [] },
];
for (const { env, levels } of early) {
  const set = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  test(`log before the settings are read (${set.join(", ") || "nothing set"}): ${levels.join() || "errors only"}`, {
    ...options,
  }, async () => {
    using taken = await takenPort(); // so that it ends by itself
    const settings = await typhaSettings({ ...env, TYPHA_SERVERPORT: `${taken.port}` });
    const { stdout } = await cattail(["typha"], { env: settings });
    equal(/\[INFO\].*Reading the settings/.test(stdout), levels.includes("INFO"), stdout);
    equal(/\[DEBUG\].*Setting .*TYPHA_SERVERPORT/.test(stdout), levels.includes("DEBUG"), stdout);
  });
}

function temporaryFolder(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), "cattail-heap-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}

async function takenPort(): Promise<Disposable & { port: number }> {
  const server = createServer();
  await new Promise<void>((done) => server.listen({ port: 0, host: "127.0.0.1" }, done));
  const { port } = server.address() as { port: number }; // it listens on TCP
  return { port, [Symbol.dispose]: () => void server.close() };
}
