// The log: what everybody in the process says, as lines to screen, file and syslog, each with its own severity. Code
// elsewhere takes lib's Log type and cannot tell where lines go; worker threads have one that hands over to the main
// thread's.
import type { Writable } from "node:stream";
import { type Clock, type Log, type LogFields, settleWithin } from "../../lib/index.ts";
import { jsonLine, type LogLevel, type LogRecord, logLevels, originalLine, syslogText } from "./log-line.ts";
import { LogQueue, type LogQueueCounts } from "./log-queue.ts";
import { descriptorSink, fileSink, streamSink } from "./log-sinks.ts";
import { syslogSink } from "./syslog-sink.ts";

/** A severity as the settings have it; "" for none. CRITICAL lets nothing below a panic through, as in the original. */
export type LogSeverity = "DEBUG" | "INFO" | "WARNING" | "ERROR" | "CRITICAL" | "";

export type Logs = AsyncDisposable & {
  /** A log whose lines name this file where the caller's own cannot be told. */
  logger(file?: string): Log & { fatal(message: string, fields?: LogFields): void };
  /** From which severity on a destination gets lines from now on. One that was not opened stays closed. */
  setSeverity(destination: LogDestination, severity: LogSeverity): void;
  /** To this file from now on; "" for none. Where it cannot be opened the promise fails, and lines go where they went. */
  setFile(path: string): Promise<void>;
  /** Whether a slow destination keeps many lines rather than some. */
  setKeepsAll(keepsAll: boolean): void;
  /** Debug lines only from source files whose names (as lines have them) match; undefined: from all. */
  setDebugFiles(pattern: RegExp | undefined): void;
  /** When all lines are written, or have had a moment for it: a destination that is stuck holds up nobody. */
  flush(): Promise<void>;
};

export type LogDestination = "screen" | "file" | "syslog";

/** How a program is called in its log, and what a user does about a log file that cannot be opened. */
export type LogNames = { readonly component: string; readonly syslogTag: string; readonly whenNoFile: string };

export type LogOptions = {
  names: LogNames;
  clock: Clock;
  screen: LogSeverity;
  file?: { path: string; severity: LogSeverity };
  syslog?: LogSeverity;
  format?: "original" | "json";
  keepsAll?: boolean;
  counts?: LogQueueCounts;
  /** For tests. */
  stdout?: Writable;
  pid?: number;
  syslogPaths?: readonly string[];
};

type Destination = { readonly name: LogDestination; least: number; queue: LogQueue; format(record: LogRecord): string };

/**
 * A server serves when nobody reads its log, and ends when it is told to: a destination that takes no line for so many
 * looks is given up, and one that takes them too slowly after the most. Looks, because a machine that stands still is not
 * a destination that does.
 */
const looks = { everyMs: 250, idle: 6, most: 40 } as const;

export async function openLogs(options: LogOptions): Promise<Logs> {
  const {
    names,
    clock,
    format = "original",
    pid = process.pid,
    counts = { dropped: () => undefined, failed: () => undefined },
  } = options;
  const line = format === "json" ? jsonLine : originalLine;
  const queueOptions: QueueOptions = { counts, isBounded: options.keepsAll !== true };
  const destinations: Destination[] = [];
  const toText = (record: LogRecord) => line(record, { pid, component: names.component });
  if (options.screen !== "") {
    // Once Node has looked at it, a full pipe answers at once. A write that waits in the kernel would keep us from ending.
    const queue = new LogQueue(
      options.stdout === undefined ? descriptorSink(process.stdout.fd) : streamSink(options.stdout),
      queueOptions,
    );
    destinations.push({ name: "screen", least: leastLevel(options.screen), queue, format: toText });
  }
  const least = severityLevel(options.file?.severity ?? "");
  const openFile = async (path: string): Promise<Destination> => {
    const queue = new LogQueue(await fileSink(path, names.whenNoFile), queueOptions);
    return { name: "file", least, queue, format: toText };
  };
  if (options.file !== undefined && options.file.severity !== "" && options.file.path !== "")
    destinations.push(await openFile(options.file.path));
  const logs = new LogFanOut(destinations, { clock, queueOptions, openFile });
  if (options.syslog !== undefined && options.syslog !== "") {
    await addSyslog(logs, { ...options, pid, queueOptions, severity: options.syslog });
  }
  return logs;
}

/** Shared by all queues, which ask at each line. */
type QueueOptions = { readonly counts: LogQueueCounts; isBounded: boolean };

async function addSyslog(
  logs: LogFanOut,
  of: {
    names: LogNames;
    severity: LogSeverity;
    pid: number;
    queueOptions: QueueOptions;
    syslogPaths?: readonly string[];
  },
): Promise<void> {
  try {
    const sink = await syslogSink({
      tag: of.names.syslogTag,
      pid: of.pid,
      ...(of.syslogPaths === undefined ? {} : { paths: of.syslogPaths }),
    });
    logs.add({
      name: "syslog",
      least: Math.max(leastLevel(of.severity), logLevels.indexOf("DEBUG")),
      queue: new LogQueue(sink, of.queueOptions),
      format: (record) =>
        sink.frame({ severity: syslogSeverities[record.level], atMs: record.atMs, text: syslogText(record) }),
    });
  } catch (error) {
    logs.logger("log.ts").error("Cannot reach syslog, going on without it", { error });
  }
}

const syslogSeverities: { readonly [level in LogLevel]: number } = {
  PANIC: 2,
  FATAL: 2,
  ERROR: 3,
  WARNING: 4,
  INFO: 6,
  DEBUG: 7,
  TRACE: 7,
};

function leastLevel(severity: LogSeverity): number {
  return severity === "CRITICAL" || severity === "" ? logLevels.indexOf("PANIC") : logLevels.indexOf(severity);
}

function severityLevel(severity: LogSeverity): number {
  return severity === "" ? Number.POSITIVE_INFINITY : leastLevel(severity);
}

type FanOutOptions = {
  readonly clock: Clock;
  readonly queueOptions: QueueOptions;
  readonly openFile: (path: string) => Promise<Destination>;
};

class LogFanOut implements Logs {
  readonly #destinations: Destination[];
  readonly #options: FanOutOptions;
  readonly #clock: Clock;
  #debugFiles: RegExp | undefined;
  /** As setSeverity said it last, for a file that is opened later. */
  #fileLeast: number | undefined;

  constructor(destinations: Destination[], options: FanOutOptions) {
    this.#destinations = destinations;
    this.#options = options;
    this.#clock = options.clock;
  }

  add(destination: Destination): void {
    this.#destinations.push(destination);
  }

  logger(file = "cattail"): ReturnType<Logs["logger"]> {
    const at = (level: LogLevel) => {
      const rank = logLevels.indexOf(level);
      const log = (message: string, fields: LogFields = {}): void => {
        // Where the caller is costs some microseconds to find out, so only lines that somebody wants pay for it.
        if (this.#destinations.every(({ least }) => rank < least)) return;
        const caller = callerOf(log);
        const from = caller?.file ?? file;
        if (level === "DEBUG" && this.#debugFiles?.test(from) === false) return;
        this.#write({
          level,
          atMs: this.#clock.wallMs(),
          file: from,
          line: caller?.line,
          message,
          fields,
        });
      };
      return log;
    };
    return { debug: at("DEBUG"), info: at("INFO"), warn: at("WARNING"), error: at("ERROR"), fatal: at("FATAL") };
  }

  setSeverity(destination: LogDestination, severity: LogSeverity): void {
    const least = severityLevel(severity);
    if (destination === "file") this.#fileLeast = least;
    for (const one of this.#destinations) if (one.name === destination) one.least = least;
  }

  async setFile(path: string): Promise<void> {
    const opened = path === "" ? undefined : await this.#options.openFile(path);
    const at = this.#destinations.findIndex(({ name }) => name === "file");
    const [before] = at === -1 ? [] : this.#destinations.splice(at, 1);
    if (opened !== undefined) this.#destinations.push({ ...opened, least: this.#fileLeast ?? opened.least });
    if (before === undefined) return;
    await this.#flush(before.queue);
    await before.queue.close();
  }

  setKeepsAll(keepsAll: boolean): void {
    this.#options.queueOptions.isBounded = !keepsAll;
  }

  setDebugFiles(pattern: RegExp | undefined): void {
    this.#debugFiles = pattern;
  }

  #write(record: LogRecord): void {
    const rank = logLevels.indexOf(record.level);
    for (const { least, queue, format } of this.#destinations) if (rank >= least) queue.push(format(record));
  }

  async flush(): Promise<void> {
    await Promise.all(this.#destinations.map(({ queue }) => this.#flush(queue)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush();
    const closed = Promise.all(this.#destinations.map(({ queue }) => queue.close()));
    await settleWithin(closed, { clock: this.#clock, limitMs: looks.everyMs * looks.idle });
  }

  async #flush(queue: LogQueue): Promise<void> {
    for (let count = 0, idle = 0; count < looks.most && idle < looks.idle; count++) {
      const before = queue.done;
      const flushed = await settleWithin(queue.flush(), { clock: this.#clock, limitMs: looks.everyMs });
      if (flushed.is === "settled") return;
      idle = queue.done === before ? idle + 1 : 0;
    }
  }
}

/** The file and line that called the function. */
function callerOf(callee: (...args: never[]) => unknown): { file: string; line: number } | undefined {
  const holder: { stack?: string } = {};
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 1;
  Error.captureStackTrace(holder, callee);
  Error.stackTraceLimit = limit;
  const match = /([^/\\(\s]+):(\d+):\d+\)?$/.exec(holder.stack ?? "");
  return match?.[1] === undefined ? undefined : { file: match[1], line: Number(match[2]) };
}
