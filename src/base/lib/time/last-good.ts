// A value that is read anew now and then, because it changes under us (credentials in files above all), and that may be
// unreadable for a moment while it is replaced: then the last good one stays. Read when it is asked for and too old;
// whoever asks meanwhile waits for the same reading.
import type { Clock } from "./clock.ts";

export type LastGoodOptions<T> = {
  readonly clock: Clock;
  /** Older than this, the value is read anew. */
  readonly maxAgeMs: number;
  /** `refused` is the value that somebody refused, if it is the last one: nothing of it is worth keeping. */
  readonly read: (refused: T | undefined) => Promise<T>;
  /** The last good value stays, and this is why. */
  readonly onKept: (error: unknown) => void;
  /** Of the wall clock; the value is read anew from then on, however young it is. */
  readonly expiresAtMs?: (value: T) => number | undefined;
};

export class LastGood<T> {
  readonly #options: LastGoodOptions<T>;
  #last: { readonly value: T } | undefined;
  #isRefused = false;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<T> | undefined;

  constructor(options: LastGoodOptions<T>) {
    this.#options = options;
  }

  /** Throws only when nothing was ever read. */
  current(): Promise<T> {
    if (this.#last !== undefined && this.#isFresh(this.#last.value)) return Promise.resolve(this.#last.value);
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Somebody will not have this value; whoever read a newer one meanwhile has already done the work. */
  refuse(value: T): void {
    if (value === this.#last?.value) this.#isRefused = true;
  }

  #isFresh(value: T): boolean {
    const { clock, maxAgeMs, expiresAtMs } = this.#options;
    if (this.#isRefused || clock.monotonicMs() - this.#readAtMs >= maxAgeMs) return false;
    return clock.wallMs() < (expiresAtMs?.(value) ?? Number.POSITIVE_INFINITY);
  }

  async #read(): Promise<T> {
    const { clock, read, onKept } = this.#options;
    let value: T;
    try {
      value = await read(this.#isRefused ? this.#last?.value : undefined);
    } catch (error) {
      if (this.#last === undefined) throw error;
      onKept(error);
      value = this.#last.value;
    }
    this.#last = { value };
    this.#isRefused = false;
    this.#readAtMs = clock.monotonicMs();
    return value;
  }
}
