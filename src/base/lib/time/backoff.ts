// How long to wait before trying again: twice as long after each failure, spread out so that those who failed together do
// not come back in step, and never sooner than the server asked for.
export type BackoffLimits = {
  /**
   * No wait grows beyond this, unless the server asks for more. Short: an API server that is back after a restart should
   * not find us asleep, and one that is overloaded says how long to wait.
   */
  readonly capMs: number;
  /** The longest Retry-After that is believed. */
  readonly retryAfterCapMs: number;
  /**
   * How a wait is spread. "half": from the whole wait to half as much again, for who must not come back too soon. "whole":
   * from nothing to the whole wait, for who fights others over one thing. "half" where nothing is said.
   */
  readonly spread?: "half" | "whole";
};

export const backoffLimits: BackoffLimits = { capMs: 5000, retryAfterCapMs: 300_000 };

export class Backoff {
  readonly #random: () => number;
  readonly #limits: BackoffLimits;
  #failures = 0;

  constructor(random: () => number, limits: BackoffLimits = backoffLimits) {
    this.#random = random;
    this.#limits = limits;
  }

  /** Something worked: the next failure is the first one again. */
  reset(): void {
    this.#failures = 0;
  }

  /** The wait after one more failure, from `baseMs` on; at least what the server asked for. */
  nextDelayMs(baseMs: number, retryAfterMs = 0): number {
    // 2^16 of any base is beyond every cap; without the bound a month of failures would overflow to Infinity.
    const grownMs = Math.min(baseMs * 2 ** Math.min(this.#failures, 16), this.#limits.capMs);
    this.#failures += 1;
    const askedMs = Math.min(Math.max(retryAfterMs, 0), this.#limits.retryAfterCapMs);
    if (this.#limits.spread === "whole") return askedMs + grownMs * this.#random();
    return Math.max(grownMs, askedMs) * (1 + this.#random() / 2);
  }
}
