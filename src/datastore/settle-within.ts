// Waiting for work, but not for ever, on a clock that tests can move.
import type { Clock } from "../lib/index.ts";

export type Settled<T> = { readonly is: "settled"; readonly value: T } | { readonly is: "late" };

/** Rejects as the work does, or with the signal's reason. The work itself goes on: whoever started it ends it. */
export async function settleWithin<T>(
  work: Promise<T>,
  limit: { clock: Clock; limitMs: number; signal?: AbortSignal | undefined },
): Promise<Settled<T>> {
  const stop = new AbortController();
  const onAbort = () => stop.abort(limit.signal?.reason);
  if (limit.signal?.aborted) onAbort();
  limit.signal?.addEventListener("abort", onAbort, { once: true });
  const late = limit.clock.sleep(limit.limitMs, stop.signal).then((): Settled<T> => ({ is: "late" }));
  try {
    return await Promise.race([work.then((value): Settled<T> => ({ is: "settled", value })), late]);
  } finally {
    limit.signal?.removeEventListener("abort", onAbort);
    late.catch(() => undefined); // the loser of the race ends by this abort
    stop.abort();
  }
}
