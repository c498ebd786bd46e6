// Gives up a stream that says nothing for too long. A half-open connection looks exactly like a quiet one; the only
// cure is to hang up and dial again, after asking for a sign of life where the protocol has a way to ask.
import type { Clock } from "./clock.ts";
import { passAbort } from "./pass-abort.ts";

export type SilenceOptions = {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly silenceMs: number;
  readonly what: string;
  /** Makes the error of what is said of the silence. */
  readonly error: (says: string) => Error;
  readonly onSilence?: () => void;
  /** Asks the other side to say something. It then has as much time again. */
  readonly ask?: () => void;
};

/** What `open` yields. When the other side is silent for too long its signal aborts, and this throws the error. */
export async function* untilSilent<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  { clock, signal, silenceMs, what, error: errorOf, onSilence, ask }: SilenceOptions,
): AsyncGenerator<T, void, undefined> {
  const hangUp = new AbortController();
  using _passing = passAbort(signal, hangUp);
  const watchOver = new AbortController();
  let silence: Error | undefined;
  // Undefined while the reader is busy with the last item: that silence is ours, not the other side's.
  let waitingSinceMs: number | undefined = clock.monotonicMs();
  let isAsked = false;
  const watching = (async () => {
    for (;;) {
      const sinceMs = waitingSinceMs ?? clock.monotonicMs();
      const leftMs = sinceMs + silenceMs - clock.monotonicMs();
      if (leftMs > 0) await clock.sleep(leftMs, watchOver.signal);
      else if (ask === undefined || isAsked) break;
      else {
        isAsked = true;
        waitingSinceMs = clock.monotonicMs();
        ask();
      }
    }
    onSilence?.();
    const seconds = Math.round(silenceMs / 1000);
    const why = isAsked ? `did not answer within ${seconds} s when asked` : `was silent for ${seconds} s`;
    silence = errorOf(`${what} ${why}`);
    hangUp.abort(silence);
  })();
  // Rejects only because the stream is over and its watcher dismissed.
  watching.catch(() => undefined);
  try {
    for await (const item of open(hangUp.signal)) {
      waitingSinceMs = undefined;
      isAsked = false;
      yield item;
      waitingSinceMs = clock.monotonicMs();
    }
    // A stream may end rather than throw when its signal aborts.
    if (silence !== undefined) throw silence;
  } catch (error) {
    throw silence !== undefined && !signal.aborted ? silence : error;
  } finally {
    watchOver.abort();
  }
}
