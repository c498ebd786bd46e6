import { equal, match } from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { systemClock } from "../../lib/index.ts";
import { openLogs } from "./log.ts";

function makeFolder(): Disposable & { readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), "cattail-syslog-"));
  return { path: join(folder, "log"), [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

/** A syslog whose socket takes streams; `lines` gives what it is told. */
async function startStreamSyslog(path: string) {
  const sockets = new Set<Socket>();
  const waiting: ((line: string) => void)[] = [];
  const server = createServer((socket) => {
    sockets.add(socket.on("close", () => sockets.delete(socket)));
    createInterface({ input: socket }).on("line", (line) => waiting.shift()?.(line));
  });
  await once(server.listen(path), "listening");
  return {
    /** To be asked before the line is written. */
    line: () => new Promise<string>((resolve) => waiting.push(resolve)),
    async stop() {
      const closed = once(server.close(), "close");
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

const names = { component: "kettle", syslogTag: "my-kettle", whenNoFile: "Set KETTLE_LOG" };
const openSyslog = (path: string) =>
  openLogs({ names, clock: systemClock, screen: "", syslog: "INFO", syslogPaths: [path], pid: 9 });

test("a syslog of streams gets its frames, with the severity in front", async () => {
  using folder = makeFolder();
  const syslog = await startStreamSyslog(folder.path);
  const logs = await openSyslog(folder.path);
  const received = Promise.all([syslog.line(), syslog.line()]);
  logs.logger().info("hello", { a: "b" });
  logs.logger().error("bad");
  const [first, second] = await received;
  match(
    first,
    /^<14>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d my-kettle\[9\]: INFO syslog-sink\.test\.ts \d+: hello a="b"$/,
  );
  match(second, /^<11>.*ERROR syslog-sink\.test\.ts \d+: bad$/);
  await logs[Symbol.asyncDispose]();
  await syslog.stop();
});

test("a syslog that was restarted is told the next line", async () => {
  using folder = makeFolder();
  const before = await startStreamSyslog(folder.path);
  const logs = await openSyslog(folder.path);
  const first = before.line();
  logs.logger().info("one");
  match(await first, /one$/);
  await before.stop();
  // Whether this one still goes into the socket or fails at once is the kernel's affair; it is gone in either case.
  logs.logger().info("lost");
  await logs.flush();
  const after = await startStreamSyslog(folder.path);
  const next = after.line();
  logs.logger().info("two");
  match(await next, /two$/);
  await logs[Symbol.asyncDispose]();
  await after.stop();
});

const hasProgram = (name: string) => spawnSync(name, ["--version"]).error === undefined;
const missing = ["logger", "perl"].filter((name) => !hasProgram(name));
const isUtilLinux = /util-linux/.test(spawnSync("logger", ["--version"], { encoding: "utf8" }).stdout ?? "");
const reason =
  missing.length > 0
    ? `not installed: ${missing.join(", ")} (logger carries the lines, perl plays the syslog)`
    : isUtilLinux
      ? false
      : "this logger is not util-linux's, and has no --socket";

// Node has no datagrams on local sockets, which is why `logger` is asked at all; so the other end is not Node either.
const receiver = `use Socket; $| = 1;
  socket(S, PF_UNIX, SOCK_DGRAM, 0) && bind(S, sockaddr_un($ARGV[0])) or die $!;
  print "ready\\n";
  while (defined recv(S, $line, 65536, 0)) { print "$line\\n" }`;

test("a syslog of datagrams gets its lines through logger", { skip: reason }, async () => {
  using folder = makeFolder();
  const syslog = spawn("perl", ["-e", receiver, folder.path], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const lines = createInterface({ input: syslog.stdout })[Symbol.asyncIterator]();
    equal((await lines.next()).value, "ready");
    const logs = await openSyslog(folder.path);
    const log = logs.logger();
    log.info("hello", { a: "b" });
    log.error("bad\nline");
    // Five values of 256 bytes are more than the 1024 that logger takes by default.
    log.warn("long", Object.fromEntries(["a", "b", "c", "d", "e"].map((name) => [name, name.repeat(256)])));
    const [first, second, third] = [await lines.next(), await lines.next(), await lines.next()].map(({ value }) =>
      String(value),
    );
    match(
      first ?? "",
      /^<14>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d my-kettle\[9\]: INFO syslog-sink\.test\.ts \d+: hello a="b"$/,
    );
    match(second ?? "", /^<11>.*my-kettle\[9\]: ERROR syslog-sink\.test\.ts \d+: bad\\nline$/);
    match(third ?? "", /^<12>.*: WARNING .*: long a="a{256}" .* e="e{256}"$/);
    await logs[Symbol.asyncDispose]();
  } finally {
    syslog.kill();
    await once(syslog, "exit");
  }
});

test("where nobody can carry datagrams the log says so once, and goes on", { skip: reason }, async () => {
  using folder = makeFolder();
  const syslog = spawn("perl", ["-e", receiver, folder.path], { stdio: ["ignore", "pipe", "inherit"] });
  const path = process.env.PATH;
  try {
    equal((await createInterface({ input: syslog.stdout })[Symbol.asyncIterator]().next()).value, "ready");
    process.env.PATH = "/nowhere";
    const file = { path: `${folder.path}.file`, severity: "INFO" } as const;
    const logs = await openLogs({
      names,
      clock: systemClock,
      screen: "",
      file,
      syslog: "INFO",
      syslogPaths: [folder.path],
    });
    process.env.PATH = path;
    logs.logger().info("still here");
    await logs[Symbol.asyncDispose]();
    const [first = "", second = ""] = readFileSync(file.path, "utf8").split("\n");
    match(first, /\[ERROR\].*Cannot reach syslog.*logger ENOENT/);
    match(second, /still here$/);
  } finally {
    process.env.PATH = path;
    syslog.kill();
    await once(syslog, "exit");
  }
});
