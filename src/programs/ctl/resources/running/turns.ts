// Lets callers in front of a datastore, and holds all of them back for as long as it asks to (HTTP 429 with Retry-After):
// one that is told to wait waits for all, so that a file of 200 objects does not knock 200 times.
import { Backoff, type Clock } from "../../../../base/lib/index.ts";
import { type DatastoreError, isDatastoreError } from "../../../../calico/datastore/index.ts";

export type TurnsOptions = {
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
};

/** The original's client gives up after ten tries, too. */
const mostTries = 10;
const firstWaitMs = 500;
const limits = { capMs: 15_000, retryAfterCapMs: 60_000 } as const;

export class Turns {
  readonly #options: TurnsOptions;
  #openAtMs = 0;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** Asks again after what is a request to come later, and only then: such a request means that nothing was done. */
  async take<T>(ask: () => Promise<T>): Promise<T> {
    const { clock, signal, random } = this.#options;
    const backoff = new Backoff(random, limits);
    for (let tries = 1; ; tries++) {
      await this.#opened(clock, signal);
      try {
        return await ask();
      } catch (error) {
        const limit = rateLimitOf(error);
        if (limit === undefined || tries >= mostTries || signal.aborted) throw error;
        const untilMs = clock.monotonicMs() + backoff.nextDelayMs(firstWaitMs, limit.retryAfterMs);
        this.#openAtMs = Math.max(this.#openAtMs, untilMs);
      }
    }
  }

  async #opened(clock: Clock, signal: AbortSignal): Promise<void> {
    // Somebody else may have been told to wait meanwhile.
    for (let waitMs = this.#waitMs(clock); waitMs > 0; waitMs = this.#waitMs(clock)) {
      try {
        await clock.sleep(waitMs, signal);
      } catch (cause) {
        throw new NotBegun({ cause });
      }
    }
  }

  #waitMs(clock: Clock): number {
    return this.#openAtMs - clock.monotonicMs();
  }
}

/** Interrupted before anything was asked for. */
export class NotBegun extends Error {
  constructor(options: ErrorOptions) {
    super("interrupted while the datastore wanted us to wait", options);
    this.name = "NotBegun";
  }
}

/** The datastore's request to come later, however often it was wrapped. */
export function rateLimitOf(error: unknown): DatastoreError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (isDatastoreError(at, "rate-limited")) return at;
  return undefined;
}
