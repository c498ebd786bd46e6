// A log that remembers what it was told.
import type { Log, LogFields } from "../../src/base/lib/index.ts";

export type LogLine = { readonly level: keyof Log; readonly message: string; readonly fields: LogFields };

export function recordLog(): { readonly log: Log; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const at =
    (level: keyof Log) =>
    (message: string, fields: LogFields = {}) =>
      void lines.push({ level, message, fields });
  return { log: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") }, lines };
}
