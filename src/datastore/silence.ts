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
  // By hand: AbortSignal.any() leaves about 1 KB behind in a signal that lives as long as the process, and a kind that is
  // polled comes here every five seconds (silence.test.ts).
  const onAbort = () => hangUp.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  const watchOver = new AbortController();
  let silence: DatastoreError | undefined;
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
    silence = new DatastoreError("unavailable", `${what} was silent for ${Math.round(silenceMs / 1000)} s`);
    hangUp.abort(silence);
  })();
  // Rejects only because the stream is over and its watcher dismissed.
  watching.catch(() => undefined);
  try {
    for await (const item of open(hangUp.signal)) {
      waitingSinceMs = undefined;
      yield item;
      waitingSinceMs = clock.monotonicMs();
    }
    // A stream may end rather than throw when its signal aborts.
    if (silence !== undefined) throw silence;
  } catch (error) {
    throw silence !== undefined && !signal.aborted ? silence : error;
  } finally {
    watchOver.abort();
    signal.removeEventListener("abort", onAbort);
  }
}
