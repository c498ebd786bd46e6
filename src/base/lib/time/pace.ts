// The pace of whoever reads a stream that may be busy for hours. To wake for each word costs more than the words do; so where much comes, the
// reader rests after each reading, and what has come meanwhile is read at once. A word after a pause, and a few in a row, are read when they come.
import type { Clock } from "./clock.ts";
import { RecentRate } from "./recent-rate.ts";

export type PaceOptions = {
  readonly clock: Clock;
  readonly restMs: number;
  /** As many readings a second cost little. Fewer than what is left when the reader rests, or it would rest every other time. */
  readonly freePerSecond: number;
};

const memoryMs = 1000;

export class Pace {
  readonly #options: PaceOptions;
  readonly #readings = new RecentRate(memoryMs);

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /** To be awaited after each reading. Ends early, and well, when the signal aborts. */
  async rest(signal: AbortSignal): Promise<void> {
    const { clock, restMs, freePerSecond } = this.#options;
    this.#readings.note(1, clock.monotonicMs());
    if (this.#readings.perMs * 1000 <= freePerSecond) return;
    await clock.sleep(restMs, signal).catch(() => undefined); // whoever reads looks at the signal itself
  }
}
