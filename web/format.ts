// Numbers, sizes, times and values as a person reads them.
import { indented } from "./json-text.ts";

export function amount(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 1 : 0 });
}

export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let size = value;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${size < 10 && unit > 0 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

/** "12 s", "3 min", "5 h", "8 days": in the unit in which a person would say it. A clock set back makes none negative. */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/** 14:03:07.125, in the reader's own time zone. */
export function clock(ms: number): string {
  return `${new Date(ms).toLocaleTimeString("en-GB")}.${String(Math.floor(ms % 1000)).padStart(3, "0")}`;
}

export function ago(thenMs: number | null, nowMs: number): string {
  if (thenMs === null) return "never";
  // The page's "now" is a second old at times.
  return nowMs - thenMs < 1000 ? "just now" : `${duration(nowMs - thenMs)} ago`;
}

/** Readable JSON where the value is JSON, the text itself where it is not (many config values are plain text). */
export function readable(value: string): string {
  try {
    JSON.parse(value);
  } catch {
    return value;
  }
  return indented(value) ?? value;
}
