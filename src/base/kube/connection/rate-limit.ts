// A token bucket in front of the API server: so many requests at once, so many a second after that. Waiters are served
// in the order they came; there are as many as followers and writers, each of which waits for its answer.
import type { Clock } from "../../lib/index.ts";

export class RateLimit {
  readonly #clock: Clock;
  readonly #perMs: number;
  readonly #burst: number;
  /** Below zero: tokens promised to those who wait. */
  #tokens: number;
  #atMs: number;

  /** Less than 0 a second: no limit, as in the Go client. */
  constructor(clock: Clock, options: { perSecond: number; burst: number }) {
    this.#clock = clock;
    this.#perMs = options.perSecond < 0 ? Number.POSITIVE_INFINITY : Math.max(options.perSecond, 0.01) / 1000;
    this.#burst = Math.max(options.burst, 1);
    this.#tokens = this.#burst;
    this.#atMs = clock.monotonicMs();
  }

  async take(signal?: AbortSignal): Promise<void> {
    if (this.#perMs === Number.POSITIVE_INFINITY) return;
    const nowMs = this.#clock.monotonicMs();
    this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#atMs) * this.#perMs);
    this.#atMs = nowMs;
    this.#tokens -= 1;
    if (this.#tokens >= 0) return;
    try {
      await this.#clock.sleep(-this.#tokens / this.#perMs, signal);
    } catch (error) {
      this.#tokens += 1;
      throw error;
    }
  }
}
