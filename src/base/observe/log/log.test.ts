import { deepEqual, equal, match, rejects } from "node:assert/strict";
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { test } from "node:test";
import { namedPipe } from "../../../../test/kit/pipes.ts";
import { systemClock } from "../../lib/index.ts";
import { type LogSeverity, openLogs } from "./log.ts";
import { descriptorSink } from "./log-sinks.ts";

const names = { component: "kettle", syslogTag: "my-kettle", whenNoFile: "Set KETTLE_LOG" };

/** A standard output that remembers, and takes nothing while `release` has not been called. */
function screen(options: { isStuck?: boolean } = {}) {
  const lines: string[] = [];
  let waiting: (() => void) | undefined;
  let isStuck = options.isStuck ?? false;
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      const take = () => {
        lines.push(...String(chunk).split("\n").slice(0, -1));
        done();
      };
      if (isStuck) waiting = take;
      else take();
    },
  });
  const release = () => {
    isStuck = false;
    waiting?.();
  };
  return { stdout, lines, release };
}

const severities: { severity: LogSeverity; levels: string[] }[] = [
  { severity: "DEBUG", levels: ["DEBUG", "INFO", "WARNING", "ERROR", "FATAL"] },
  { severity: "INFO", levels: ["INFO", "WARNING", "ERROR", "FATAL"] },
  { severity: "WARNING", levels: ["WARNING", "ERROR", "FATAL"] },
  { severity: "ERROR", levels: ["ERROR", "FATAL"] },
  { severity: "CRITICAL", levels: [] },
  { severity: "", levels: [] },
];
for (const { severity, levels } of severities) {
  test(`severity ${severity === "" ? "none" : severity} lets through ${levels.join(", ") || "nothing"}`, async () => {
    const { stdout, lines } = screen();
    await using logs = await openLogs({ names, clock: systemClock, screen: severity, stdout });
    const log = logs.logger();
    for (const level of ["debug", "info", "warn", "error", "fatal"] as const) log[level]("x");
    await logs.flush();
    deepEqual(
      lines.map((line) => /\[(\w+)\]\[/.exec(line)?.[1]),
      levels,
    );
  });
}

test("a line names the file and line it was written in", async () => {
  const { stdout, lines } = screen();
  await using logs = await openLogs({ names, clock: systemClock, screen: "INFO", stdout, pid: 42 });
  const log = logs.logger();
  log.info("Here");
  await logs.flush();
  match(lines[0] ?? "", /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \[INFO\]\[42\] kettle\/log\.test\.ts \d+: Here$/);
});

test("the severity of a destination can be changed while it is open", async () => {
  const { stdout, lines } = screen();
  await using logs = await openLogs({ names, clock: systemClock, screen: "INFO", stdout });
  const log = logs.logger();
  for (const severity of ["DEBUG", "ERROR", "", "INFO"] as const) {
    logs.setSeverity("screen", severity);
    for (const level of ["debug", "info", "error"] as const) log[level](`at ${severity}`);
  }
  await logs.flush();
  deepEqual(
    lines.map((line) => /\[(\w+)\]\[.*: (at \w*)$/.exec(line)?.slice(1).join(" ")),
    ["DEBUG at DEBUG", "INFO at DEBUG", "ERROR at DEBUG", "ERROR at ERROR", "INFO at INFO", "ERROR at INFO"],
  );
});

test("debug lines can be asked for from some files only", async () => {
  const { stdout, lines } = screen();
  await using logs = await openLogs({ names, clock: systemClock, screen: "DEBUG", stdout });
  const log = logs.logger();
  for (const pattern of [/^log\.test/, /other/, undefined]) {
    logs.setDebugFiles(pattern);
    for (const level of ["debug", "info"] as const) log[level](`with ${pattern}`);
  }
  await logs.flush();
  deepEqual(
    lines.map((line) => /\[(\w+)\]\[.*: (with .*)$/.exec(line)?.slice(1).join(" ")),
    [
      "DEBUG with /^log\\.test/",
      "INFO with /^log\\.test/",
      "INFO with /other/",
      "DEBUG with undefined",
      "INFO with undefined",
    ],
  );
});

test("a hundred lines wait for a stuck screen, the rest are dropped, counted and admitted to", async () => {
  const { stdout, lines, release } = screen({ isStuck: true });
  let dropped = 0;
  const add = (count: number) => {
    dropped += count;
  };
  const counts = { dropped: (count: number) => add(count), failed: () => undefined };
  await using logs = await openLogs({ names, clock: systemClock, screen: "INFO", stdout, counts });
  const log = logs.logger();
  for (let i = 0; i < 150; i++) log.info(`line ${i}`);
  equal(dropped, 50);
  release();
  await logs.flush();
  equal(lines.length, 100);
  log.info("after");
  await logs.flush();
  equal(lines[100], "... dropped 50 logs ...");
  match(lines[101] ?? "", /after$/);
});

test("a screen that is gone costs its lines and nothing else", async () => {
  const stdout = new Writable({ write: (_chunk, _encoding, done) => done(new Error("EPIPE")) });
  let failed = 0;
  const add = (count: number) => {
    failed += count;
  };
  await using logs = await openLogs({
    names,
    clock: systemClock,
    screen: "INFO",
    stdout,
    counts: { dropped: () => undefined, failed: () => add(1) },
  });
  logs.logger().info("x");
  await logs.flush();
  equal(failed, 1);
});

test("the file is made with its folder, and opened anew when it is rotated or removed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cattail-log-"));
  try {
    const path = join(folder, "deep", "kettle.log");
    await using logs = await openLogs({ names, clock: systemClock, screen: "", file: { path, severity: "INFO" } });
    const write = async (text: string) => {
      logs.logger().info(text);
      await logs.flush();
    };
    await write("one");
    equal(statSync(path).mode & 0o777, 0o644 & ~process.umask());
    renameSync(path, `${path}.1`);
    await write("two");
    rmSync(path);
    await write("three");
    match(readFileSync(`${path}.1`, "utf8"), /one\n$/);
    match(readFileSync(path, "utf8"), /three\n$/);
    equal(readFileSync(path, "utf8").split("\n").length, 2);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a file that cannot be opened stops the start", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cattail-log-"));
  try {
    writeFileSync(join(folder, "file"), "");
    const path = join(folder, "file", "kettle.log");
    await rejects(openLogs({ names, clock: systemClock, screen: "", file: { path, severity: "INFO" } }), {
      code: "LOG_FILE",
      message: /Set KETTLE_LOG/,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("no syslog is one error line, and everything else goes on", async () => {
  const { stdout, lines } = screen();
  await using logs = await openLogs({
    names,
    clock: systemClock,
    screen: "INFO",
    stdout,
    syslog: "INFO",
    syslogPaths: ["/does/not/exist"],
  });
  logs.logger().info("still here");
  await logs.flush();
  equal(lines.length, 2);
  match(lines[0] ?? "", /\[ERROR\].*Cannot reach syslog.*ENOENT/);
});

test("a pipe nobody reads holds up its own lines and not the process", async (context) => {
  using pipe = namedPipe();
  if (pipe === undefined) return context.skip("mkfifo is not installed");
  const descriptor = openSync(pipe.path, constants.O_RDWR | constants.O_NONBLOCK);
  try {
    const text = "x".repeat(1 << 20); // far more than a pipe holds
    const writing = descriptorSink(descriptor).write(text);
    let received = 0;
    const buffer = Buffer.alloc(1 << 16);
    while (received < text.length) {
      try {
        received += readSync(descriptor, buffer);
      } catch (error) {
        equal((error as NodeJS.ErrnoException).code, "EAGAIN");
        await new Promise((resolve) => setImmediate(resolve)); // the process goes on meanwhile
      }
    }
    await writing;
    equal(received, text.length);
  } finally {
    closeSync(descriptor);
  }
});

test("JSON lines when asked for", async () => {
  const { stdout, lines } = screen();
  await using logs = await openLogs({ names, clock: systemClock, screen: "INFO", stdout, format: "json" });
  logs.logger().info("hello", { a: 1 });
  await logs.flush();
  const parsed = JSON.parse(lines[0] ?? "");
  equal(parsed.message, "hello");
  equal(parsed.a, 1);
  equal(parsed.file, "log.test.ts");
});

test("another log file takes over while the program runs; one that cannot be opened changes nothing", async () => {
  const dir = mkdtempSync(join(tmpdir(), "cattail-log-"));
  try {
    const [one, two] = [join(dir, "one.log"), join(dir, "two.log")];
    const file = { path: one, severity: "INFO" } as const;
    await using logs = await openLogs({ names, clock: systemClock, screen: "", file });
    const log = logs.logger();
    log.info("first");
    logs.setSeverity("file", "ERROR");
    await logs.setFile(two);
    log.info("left out: the file is new, the severity is not");
    log.error("second");
    await rejects(logs.setFile(dir), { code: "LOG_FILE" });
    log.error("third");
    await logs.setFile("");
    log.error("nowhere");
    match(readFileSync(one, "utf8"), /^[^\n]*first\n$/);
    match(readFileSync(two, "utf8"), /^[^\n]*second\n[^\n]*third\n$/);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test("whether a slow destination keeps its lines can change", async () => {
  const { stdout, lines, release } = screen({ isStuck: true });
  await using logs = await openLogs({ names, clock: systemClock, screen: "INFO", stdout });
  const log = logs.logger();
  logs.setKeepsAll(true);
  for (let count = 0; count < 500; count++) log.info("x");
  logs.setKeepsAll(false);
  log.info("dropped");
  release();
  await logs.flush();
  equal(lines.length, 500);
});
