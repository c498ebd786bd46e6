// Time as an argument. Durations come from the monotonic reading, which no clock jump moves; the wall reading is only
// for what people and certificates mean by time. test/kit/fake-clock.ts is the other implementation.

/** Time as an argument: what it is, and how to wait. */
export type Clock = {
  /** Milliseconds since the Unix epoch; may jump. */
  wallMs(): number;
  /** Milliseconds from an arbitrary start; never goes back. */
  monotonicMs(): number;
  /** Resolves after the delay; rejects with the signal's reason when it aborts first. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
};

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (delayMs, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(
        () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
        Math.max(0, delayMs),
      ); // less than no time makes Node print a warning
      signal?.addEventListener("abort", onAbort, { once: true });
    }),
};
