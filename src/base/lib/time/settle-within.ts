// Waiting for work, but not for ever, on a clock that tests can move.
import type { Clock } from "./clock.ts";
import { passAbort } from "./pass-abort.ts";

export type Settled<T> = { readonly is: "settled"; readonly value: T } | { readonly is: "late" };

const over = new Error("over"); // a reason made once: without one, abort() makes an exception with a stack

/** Rejects as the work does, or with the signal's reason. The work itself goes on: whoever started it ends it. */
export async function settleWithin<T>(
  work: Promise<T>,
  limit: { clock: Clock; limitMs: number; signal?: AbortSignal | undefined },
): Promise<Settled<T>> {
  const stop = new AbortController();
  using _passing = passAbort(limit.signal, stop);
  const late = limit.clock.sleep(limit.limitMs, stop.signal).then((): Settled<T> => ({ is: "late" }));
  try {
    return await Promise.race([work.then((value): Settled<T> => ({ is: "settled", value })), late]);
  } finally {
    late.catch(() => undefined); // the loser of the race ends by this abort
    stop.abort(over);
  }
}
