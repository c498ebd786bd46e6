// The one way in which credentials are reloaded: a value that changes under us (tokens, certificates and keys in files) and that may be
// unreadable for a moment, or worse than the one in use, while it is replaced: then the last good one stays.
//
//   current()  whoever needs the value asks, and it is read anew when it is too old: a request to Kubernetes or etcd
//   reload()   whoever hears of a change asks for a look now: files that are watched, SIGHUP
//   changes()  each new value, for those who must act on it: a server's certificate
//
//   read ─▶ judge: same │ another │ throws ─▶ unchanged │ reloaded │ kept
import type { Clock } from "./clock.ts";

export type LastGoodOptions<T> = {
  readonly clock: Clock;
  /** Older than this, the value is read anew when it is asked for. */
  readonly maxAgeMs: number;
  /** `refused` is the value that somebody refused, if it is the last one: nothing of it is worth keeping. */
  readonly read: (refused: T | undefined) => Promise<T>;
  /** Throws where the new value is worse than the one in use. Not given: every value that can be read is another. */
  readonly judge?: (next: T, inUse: T) => "same" | "another";
  /** A value takes the place of another: told before anybody who follows the changes. */
  readonly onReloaded?: (value: T) => void;
  /** The last good value stays, and this is why. */
  readonly onKept: (error: unknown) => void;
  /** Of the wall clock; the value is read anew from then on, however young it is. */
  readonly expiresAtMs?: (value: T) => number | undefined;
  /** Already read by whoever makes this. */
  readonly first?: T;
};

export type ReloadOutcome = "unchanged" | "reloaded" | "kept";

export class LastGood<T> {
  readonly #options: LastGoodOptions<T>;
  #last: { readonly value: T } | undefined;
  #isRefused = false;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<unknown> | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  /** At most one: a newer value replaces one that nobody has taken yet. */
  #untaken: { readonly value: T } | undefined;
  #wake: () => void = () => undefined;

  constructor(options: LastGoodOptions<T>) {
    this.#options = options;
    if (options.first !== undefined) this.#last = { value: options.first };
  }

  /** Throws only when nothing was ever read. Whoever asks while it is read waits for the same reading. */
  async current(): Promise<T> {
    if (this.#last !== undefined && this.#isFresh(this.#last.value)) return this.#last.value;
    this.#reading ??= this.reload().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
    return this.#value();
  }

  /** Reads now, after a reading that is under way: that one may have begun before the change. */
  reload(): Promise<ReloadOutcome> {
    const read = () => this.#read();
    const next = this.#turn.then(read, read);
    this.#turn = next;
    return next;
  }

  /** Somebody will not have this value; whoever read a newer one meanwhile has already done the work. */
  refuse(value: T): void {
    if (value === this.#last?.value) this.#isRefused = true;
  }

  /** Each new value after the first. One consumer; one that is late sees only the newest. Ends when the signal aborts. */
  async *changes(signal: AbortSignal): AsyncGenerator<T, void, undefined> {
    const wake = () => this.#wake();
    signal.addEventListener("abort", wake, { once: true });
    try {
      while (!signal.aborted) {
        const untaken = this.#untaken;
        this.#untaken = undefined;
        if (untaken !== undefined) yield untaken.value;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      signal.removeEventListener("abort", wake);
    }
  }

  #value(): T {
    if (this.#last === undefined) throw new Error("nothing was read"); // a reading that failed has thrown
    return this.#last.value;
  }

  #isFresh(value: T): boolean {
    const { clock, maxAgeMs, expiresAtMs } = this.#options;
    if (this.#isRefused || clock.monotonicMs() - this.#readAtMs >= maxAgeMs) return false;
    return clock.wallMs() < (expiresAtMs?.(value) ?? Number.POSITIVE_INFINITY);
  }

  async #read(): Promise<ReloadOutcome> {
    const { clock, read, onKept } = this.#options;
    const before = this.#last;
    let outcome: ReloadOutcome = "reloaded";
    try {
      const value = await read(this.#isRefused ? before?.value : undefined);
      if (before !== undefined && this.#options.judge?.(value, before.value) === "same") outcome = "unchanged";
      else {
        this.#last = { value };
        if (before !== undefined) this.#options.onReloaded?.(value);
      }
    } catch (error) {
      if (before === undefined) throw error;
      onKept(error);
      outcome = "kept";
    }
    this.#isRefused = false;
    this.#readAtMs = clock.monotonicMs();
    if (outcome === "reloaded" && before !== undefined) {
      this.#untaken = this.#last;
      this.#wake();
    }
    return outcome;
  }
}
