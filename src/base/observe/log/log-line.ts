// One log line: the original's format, so that parsers made for it keep working, or JSON. Whatever came from a peer is
// escaped and cut, so that no value can start a line of its own or fill the log.
import type { LogFields } from "../../lib/index.ts";

export const logLevels = ["TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "FATAL", "PANIC"] as const;
export type LogLevel = (typeof logLevels)[number];

/** What a line is made of. */
export type LogRecord = {
  readonly level: LogLevel;
  readonly atMs: number;
  /** The base name of the source file that logged it; of a worker thread's, the one that took it over. */
  readonly file: string;
  readonly line: number | undefined;
  readonly message: string;
  readonly fields: LogFields;
};

const maxValueBytes = 256;

/** Who writes the lines: the process, and the component whose name stands before each file's. */
export type LogWriter = { readonly pid: number; readonly component: string };

/** `2024-01-02 03:04:05.678 [INFO][1234] component/serve.ts 12: Message key="value"` */
export function originalLine(record: LogRecord, { pid, component }: LogWriter): string {
  const { level, atMs, file, line } = record;
  return `${localTime(atMs)} [${level}][${pid}] ${component}/${file} ${line ?? "<nil>"}: ${messageAndFields(record)}\n`;
}

/** Syslog adds the time and the process itself. */
export function syslogText(record: LogRecord): string {
  return `${record.level} ${record.file} ${record.line ?? "<nil>"}: ${messageAndFields(record)}`;
}

export function jsonLine(record: LogRecord, { pid }: LogWriter): string {
  const { level, atMs, file, line, message, fields } = record;
  const own = { time: new Date(atMs).toISOString(), level, pid, file, line, message: cut(message, 4 * maxValueBytes) };
  const given = new Map<string, unknown>();
  for (const [name, value] of Object.entries(fields).sort(byName)) {
    if (value !== undefined) given.set(Object.hasOwn(own, name) ? `field_${name}` : name, jsonValue(value));
  }
  return `${JSON.stringify({ ...own, ...Object.fromEntries(given) })}\n`;
}

/** Go's strconv.Quote: what a terminal would act on, and what cannot be seen, is escaped. */
export function goQuote(text: string): string {
  return `"${escapeText(text, /["\\]/)}"`;
}

function messageAndFields({ message, fields }: LogRecord): string {
  let text = escapeText(cut(message, 4 * maxValueBytes));
  for (const [name, value] of Object.entries(fields).sort(byName)) {
    if (value !== undefined) text += ` ${escapeText(name)}=${fieldText(value)}`;
  }
  return text;
}

function fieldText(value: unknown): string {
  if (typeof value === "string") return goQuote(cut(value, maxValueBytes));
  if (value === null) return "<nil>";
  // As in the original: an error, or anything that has a text of its own, stands bare.
  return escapeText(cut(bareText(value), maxValueBytes));
}

function bareText(value: unknown): string {
  if (value instanceof Error) return errorText(value);
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== "object") return String(value);
  try {
    return JSON.stringify(value, (_name, inner) => (typeof inner === "bigint" ? String(inner) : inner)) ?? "";
  } catch {
    return "[value that cannot be shown]"; // it holds itself, or is nested too deeply
  }
}

function errorText(error: Error): string {
  const code = (error as NodeJS.ErrnoException).code;
  return code === undefined || error.message.includes(code) ? error.message : `${error.message} (${code})`;
}

function jsonValue(value: unknown): unknown {
  if (typeof value === "number" || typeof value === "boolean" || value === null) return value;
  return cut(typeof value === "string" ? value : bareText(value), maxValueBytes);
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const shortEscapes: ReadonlyMap<string, string> = new Map([
  ["\x07", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
]);
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u;

function escapeText(text: string, also?: RegExp): string {
  if (printable.test(text) && also?.test(text) !== true) return text;
  let escaped = "";
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (also?.test(character)) escaped += `\\${character}`;
    else if (printable.test(character)) escaped += character;
    else escaped += shortEscapes.get(character) ?? hexEscape(code);
  }
  return escaped;
}

function hexEscape(code: number): string {
  if (code >= 0xd800 && code <= 0xdfff) return "\\ufffd"; // half of a pair, which UTF-8 cannot hold
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
}

/** At most so many bytes of UTF-8, without cutting a character in half. */
function cut(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text.slice(0, maxBytes + 1));
  if (bytes.length <= maxBytes && text.length <= maxBytes) return text;
  let end = Math.min(maxBytes, bytes.length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return `${bytes.toString("utf8", 0, end)}…`;
}

/** `2024-01-02 03:04:05.678` */
export function localTime(ms: number): string {
  const at = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  return `${date} ${time}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}
