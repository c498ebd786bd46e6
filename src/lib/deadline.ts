// A signal that aborts when another does or when time is up, and leaves nothing behind. (AbortSignal.any() keeps a
// reference in the long-lived signal for each call, about a kilobyte; a loop that calls it leaks.)
import type { Clock } from "./clock.ts";

export type Deadline = Disposable & { readonly signal: AbortSignal; readonly isOver: boolean };

export function deadline(outer: AbortSignal, afterMs: number, clock: Clock): Deadline {
  const inner = new AbortController();
  const waiting = new AbortController();
  let isOver = false;
  const onAbort = () => inner.abort(outer.reason);
  if (outer.aborted) onAbort();
  outer.addEventListener("abort", onAbort, { once: true });
  clock.sleep(afterMs, waiting.signal).then(
    () => {
      isOver = true;
      inner.abort(new Error(`not done within ${afterMs} ms`));
    },
    () => undefined, // disposed in time
  );
  return {
    signal: inner.signal,
    get isOver() {
      return isOver;
    },
    [Symbol.dispose]() {
      outer.removeEventListener("abort", onAbort);
      waiting.abort();
    },
  };
}
