// How long start-up waits for a datastore that does not answer: for ever where it was asked to, else for a while, because a pod that ends here only
// starts again and asks the same server the same things.
import { Backoff, type Clock, type Log, settleWithin } from "../../../base/lib/index.ts";
import { isDatastoreError } from "../../../calico/datastore/index.ts";
import { isResourceError } from "../../../calico/resources/index.ts";

export type Patience = {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Of one question, until it has its answer: Infinity for ever. */
  readonly limitMs: number;
};

/** An answer that takes longer than this will not come on this connection. */
const attemptMs = 10_000;
const firstWaitMs = 200;
const longestWaitMs = 1000;

/** Asks again while nobody answers. What is answered, a refusal too, is the answer. */
export async function patiently<T>(ask: (signal: AbortSignal) => Promise<T>, patience: Patience): Promise<T> {
  const { clock, log, signal, limitMs } = patience;
  const backoff = new Backoff(Math.random, { capMs: longestWaitMs, retryAfterCapMs: longestWaitMs, spread: "half" });
  const startedMs = clock.monotonicMs();
  for (;;) {
    const attempt = new AbortController();
    try {
      const settled = await settleWithin(ask(AbortSignal.any([signal, attempt.signal])), { clock, limitMs: attemptMs });
      if (settled.is === "settled") return settled.value;
      throw new Silence(`no answer within ${attemptMs / 1000} s`);
    } catch (error) {
      signal.throwIfAborted();
      if (!isSilence(error) || clock.monotonicMs() - startedMs >= limitMs) throw error;
      log.info("Hit error connecting to datastore - retry", { error });
    } finally {
      attempt.abort();
    }
    await clock.sleep(backoff.nextDelayMs(firstWaitMs), signal);
  }
}

class Silence extends Error {}

/** Nobody answered, or asked us to come later. */
export function isSilence(error: unknown): boolean {
  if (error instanceof Silence) return true;
  if (isResourceError(error)) return error.code === "unavailable";
  return isDatastoreError(error, "unavailable", "rate-limited");
}

/** Known, but not allowed: rights are missing. */
export function isForbidden(error: unknown): boolean {
  if (isResourceError(error, "unauthorized")) return isDatastoreError(error.cause, "forbidden");
  return isDatastoreError(error, "forbidden");
}

/** Not known at all. */
export function isUnauthorized(error: unknown): boolean {
  if (isResourceError(error, "unauthorized")) return !isForbidden(error);
  return isDatastoreError(error, "unauthorized");
}
