// `-l LEVEL`: what is logged to standard error while a command runs. Nothing, unless it is asked for: scripts read that stream.
import type { Log, LogFields } from "../../../base/lib/index.ts";
import { type Console, CtlError } from "../console.ts";

const levels = ["panic", "fatal", "error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof levels)[number];

export function readLogLevel(text: string): LogLevel {
  const lower = text.toLowerCase();
  const found = levels.find((level) => level === (lower === "warning" ? "warn" : lower));
  if (found !== undefined) return found;
  throw new CtlError(`unknown log level: ${text}, expected one of: ${levels.join(", ")}`);
}

/** Whether a line of this level is written. */
export function isLogged(level: LogLevel, asked: LogLevel): boolean {
  return levels.indexOf(level) <= levels.indexOf(asked);
}

export function logTo(console: Pick<Console, "err">, asked: LogLevel): Log {
  const write = (level: LogLevel) => (message: string, fields?: LogFields) => {
    if (isLogged(level, asked)) console.err(`${line(level, message, fields)}\n`);
  };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}

/** As the original's log looks. */
function line(level: LogLevel, message: string, fields: LogFields = {}): string {
  const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${quoted(String(value))}`);
  const time = new Date().toISOString().replace(/\.\d+Z$/, "Z");
  return `time="${time}" level=${level === "warn" ? "warning" : level} msg=${JSON.stringify(message)}${pairs.join("")}`;
}

function quoted(text: string): string {
  return /^[\w./:@^+-]+$/.test(text) ? text : JSON.stringify(text);
}
