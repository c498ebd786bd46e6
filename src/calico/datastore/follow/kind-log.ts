// What happens to the followers of many kinds at once, said once: an API server that goes away is one event, not one for
// each kind. Every kind's state is kept, so that a lasting failure is one line however often it is met.
//
//   Pod    cannot be watched: unavailable ─┐
//   Node   cannot be watched: unavailable ─┼─▶ nothing more for two seconds ─▶ one line that names the three
//   Tier   cannot be watched: unavailable ─┘
import type { Clock, Log, LogFields } from "../../../base/lib/index.ts";
import type { Kind } from "../../kinds/index.ts";
import type { DatastoreError, DatastoreErrorCode } from "../errors.ts";
import { publicCode } from "./follow-report.ts";

export type Attempt = "list" | "watch";

type Line = {
  readonly level: "info" | "warn";
  readonly says: (kinds: string) => string;
  readonly fields?: LogFields;
  readonly kinds: Set<Kind>;
  /** The rights that are missing, each an item of one YAML list. */
  readonly rules: Set<string>;
};

const quietMs = 2000;
/** Kinds that come back one after the other, each after a wait of its own, are not waited for longer. */
const longestMs = 10_000;

export class KindLog {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #failing = new Map<Kind, { readonly during: Attempt; readonly code: DatastoreErrorCode }>();
  /** As many as there are kinds, at the most: each is gathered for a few seconds. */
  readonly #gathering = new Map<string, Line>();

  constructor({ log, clock, signal }: { log: Log; clock: Clock; signal: AbortSignal }) {
    this.#log = log;
    this.#clock = clock;
    this.#signal = signal;
  }

  failed(kind: Kind, during: Attempt, failure: DatastoreError): void {
    const { message: error, missingRule } = failure;
    const code = publicCode(failure);
    const known = this.#failing.get(kind);
    if (known?.during === during && known.code === code) return;
    this.#failing.set(kind, { during, code });
    const line = this.#gather(`${during} ${code}`, kind, {
      level: code === "not-found" || code === "expired" ? "info" : "warn",
      says: (kinds) => `cannot ${during} ${kinds}`,
      fields: { code, error },
    });
    if (missingRule !== undefined) line.rules.add(missingRule);
  }

  recovered(kind: Kind, during: Attempt): void {
    if (this.#failing.get(kind)?.during !== during) return;
    this.#failing.delete(kind);
    this.#gather(`${during} again`, kind, { level: "info", says: (kinds) => `can ${during} ${kinds} again` });
  }

  #gather(key: string, kind: Kind, line: Omit<Line, "kinds" | "rules">): Line {
    const known = this.#gathering.get(key);
    known?.kinds.add(kind);
    if (known !== undefined) return known;
    const gathered: Line = { ...line, kinds: new Set([kind]), rules: new Set() };
    this.#gathering.set(key, gathered);
    void this.#sayWhenQuiet(key, gathered); // never rejects
    return gathered;
  }

  async #sayWhenQuiet(key: string, { level, says, fields, kinds, rules }: Line): Promise<void> {
    const untilMs = this.#clock.monotonicMs() + longestMs;
    try {
      for (let known = 0; known < kinds.size && this.#clock.monotonicMs() < untilMs; ) {
        known = kinds.size;
        await this.#clock.sleep(quietMs, this.#signal);
      }
    } catch {
      // Everything stops. What was gathered may be the reason why, so it is said all the same.
    }
    this.#gathering.delete(key);
    const missing = rules.size === 0 ? {} : { missingRule: [...rules].join("") };
    this.#log[level](says([...kinds].sort().join(", ")), fields === undefined ? undefined : { ...fields, ...missing });
  }
}
