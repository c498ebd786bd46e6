// A signal that aborts when another does or when time is up, and leaves nothing behind.
import type { Clock } from "./clock.ts";
import { passAbort } from "./pass-abort.ts";

type Deadline = Disposable & { readonly signal: AbortSignal; readonly isOver: boolean };

export function deadline(outer: AbortSignal, afterMs: number, clock: Clock): Deadline {
  const inner = new AbortController();
  const waiting = new AbortController();
  let isOver = false;
  const passing = passAbort(outer, inner);
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
      passing[Symbol.dispose]();
      waiting.abort();
    },
  };
}
