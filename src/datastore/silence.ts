// Gives up a stream that says nothing for too long. A half-open connection looks exactly like a quiet one; the only
// cure is to hang up and dial again.
import type { Clock } from "../lib/index.ts";
import { DatastoreError } from "./errors.ts";

export type SilenceOptions = {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly silenceMs: number;
  readonly what: string;
  readonly onSilence: () => void;
};

/** What `open` yields. When the other side is silent for too long its signal aborts, and this throws "unavailable". */
export async function* untilSilent<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  { clock, signal, silenceMs, what, onSilence }: SilenceOptions,
): AsyncGenerator<T, void, undefined> {
  const hangUp = new AbortController();
  const watchOver = new AbortController();
  const both = AbortSignal.any([signal, hangUp.signal]);
  // Undefined while the reader is busy with the last item: that silence is ours, not the other side's.
  let waitingSinceMs: number | undefined = clock.monotonicMs();
  const watching = (async () => {
    for (;;) {
      const sinceMs = waitingSinceMs ?? clock.monotonicMs();
      const leftMs = sinceMs + silenceMs - clock.monotonicMs();
      if (leftMs <= 0) break;
      await clock.sleep(leftMs, watchOver.signal);
    }
    onSilence();
    hangUp.abort(new DatastoreError("unavailable", `${what} was silent for ${Math.round(silenceMs / 1000)} s`));
  })();
  // Rejects only because the stream is over and its watcher dismissed.
  watching.catch(() => undefined);
  try {
    for await (const item of open(both)) {
      waitingSinceMs = undefined;
      yield item;
      waitingSinceMs = clock.monotonicMs();
    }
    // A stream may end rather than throw when its signal aborts.
    hangUp.signal.throwIfAborted();
  } catch (error) {
    throw hangUp.signal.aborted && !signal.aborted ? hangUp.signal.reason : error;
  } finally {
    watchOver.abort();
  }
}
