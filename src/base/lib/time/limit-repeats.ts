// A log that says the same thing once in a while instead of each time: the first goes out, the repeats of the next minute
// are counted, and the one after that minute carries the count.

import type { Log, LogFields } from "../log.ts";
import type { Clock } from "./clock.ts";

// Messages are constants of our own source, so there are few; the bound is for a mistake, and then nothing is withheld.
const maxMessages = 1_000;

export function limitRepeats(log: Log, options: { clock: Clock; everyMs?: number }): Log {
  const { clock, everyMs = 60_000 } = options;
  const seen = new Map<string, { sinceMs: number; repeats: number }>();
  const limited =
    (level: keyof Log) =>
    (message: string, fields: LogFields = {}) => {
      const key = `${level} ${message}`;
      const nowMs = clock.monotonicMs();
      const last = seen.get(key);
      if (last !== undefined && nowMs - last.sinceMs < everyMs) {
        last.repeats += 1;
        return;
      }
      if (last !== undefined || seen.size < maxMessages) seen.set(key, { sinceMs: nowMs, repeats: 0 });
      log[level](message, last === undefined || last.repeats === 0 ? fields : { ...fields, repeats: last.repeats });
    };
  return { debug: limited("debug"), info: limited("info"), warn: limited("warn"), error: limited("error") };
}
