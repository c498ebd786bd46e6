// Time that moves only when a test says so. Sleepers wake in the order of their time, and whatever they set in motion
// settles before the next one wakes, so that ten minutes of outage take a few milliseconds and always end the same.
import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../src/base/lib/index.ts";

type Sleeper = { readonly atMs: number; readonly wake: () => void };

export class FakeClock implements Clock {
  #nowMs = 0;
  #wallMs: number;
  readonly #sleepers = new Set<Sleeper>();

  constructor(wallMs = 1_000_000) {
    this.#wallMs = wallMs;
  }

  wallMs(): number {
    return this.#wallMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason);
      };
      const wake = () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      };
      const sleeper: Sleeper = { atMs: this.#nowMs + Math.max(0, delayMs), wake };
      if (delayMs <= 0) return wake();
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Lets so much time pass, waking everyone whose time comes, also those who go to sleep meanwhile. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await this.settle();
    for (;;) {
      const next = [...this.#sleepers].sort((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined || next.atMs > untilMs) break;
      this.#moveTo(next.atMs);
      this.#sleepers.delete(next);
      next.wake();
      await this.settle();
    }
    this.#moveTo(untilMs);
    await this.settle();
  }

  /** The wall clock is set, forward or back; no sleeper notices. */
  jumpWall(ms: number): void {
    this.#wallMs += ms;
  }

  /** Everything that can happen without time passing happens. */
  async settle(): Promise<void> {
    for (let i = 0; i < 5; i++) await turn();
  }

  #moveTo(ms: number): void {
    this.#wallMs += ms - this.#nowMs;
    this.#nowMs = ms;
  }
}
