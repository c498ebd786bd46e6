// How much comes in a millisecond, of late. What was noted counts less the longer ago it was, by time and not by number:
// bursts with gaps between them come out as the stream they are, a single burst is no stream, and after a pause what was
// before it counts for nothing.

export class RecentRate {
  readonly #memoryMs: number;
  #lastMs = Number.NEGATIVE_INFINITY;
  #perMs = 0;

  /** After so long, what was noted counts for about a third (1/e) of what it did. */
  constructor(memoryMs: number) {
    this.#memoryMs = memoryMs;
  }

  /** So many came since the last time. */
  note(count: number, nowMs: number): void {
    const elapsedMs = nowMs - this.#lastMs;
    const latest = count / Math.max(1, elapsedMs);
    const weight = 1 - Math.exp(-elapsedMs / this.#memoryMs);
    this.#perMs += (latest - this.#perMs) * weight;
    this.#lastMs = nowMs;
  }

  get perMs(): number {
    return this.#perMs;
  }

  /** When something was last noted. */
  get lastMs(): number {
    return this.#lastMs;
  }
}
