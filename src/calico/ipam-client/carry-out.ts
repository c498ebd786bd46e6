// The loop around the steps: each is carried out, and its answer handed back, until there is a result. The steps decide what is
// tried again; here is how long is waited before, so that workers who met once do not meet again in step.
import { Backoff, type Clock } from "../../base/lib/index.ts";
import { isDatastoreError } from "../datastore/index.ts";
import { type Answer, advance, type Step, StepFailed, type Steps, TooManyConflicts } from "../ipam/index.ts";
import type { Call, IpamAccess } from "./access.ts";
import { IpamError } from "./ipam-error.ts";

export type Edge = {
  readonly clock: Clock;
  /** At least 0, below 1. */
  readonly random: () => number;
};

/** One who lost a race is mostly the only one; who loses again meets a crowd. */
const racesWithoutWait = 2;
const firstRaceWaitMs = 4;
const longestRaceWaitMs = 250;
/** A server that fails is given a moment. */
const firstFailureWaitMs = 50;
const longestFailureWaitMs = 1000;
const longestAskedWaitMs = 5000;
/** For what must be undone after the caller's time is up. */
const graceMs = 30_000;

/** Throws what the datastore said where a step failed for good; IpamError "busy" after too many lost races. */
export async function carryOut<T>(steps: Steps<T>, access: Pick<IpamAccess, "answer">, edge: Edge & Call): Promise<T> {
  const waits = new Waits(edge);
  let { signal } = edge;
  try {
    let next = steps.next();
    while (!next.done) {
      const step = next.value;
      const answer = await access.answer(step, { signal });
      // The step that met the abort has failed; what the steps do then is tidying up.
      if (answer.is === "failed" && edge.signal?.aborted && signal === edge.signal)
        signal = AbortSignal.timeout(graceMs);
      next = advance(steps, answer);
      if (!next.done) await waits.after(step, answer, signal);
    }
    return next.value;
  } catch (error) {
    if (error instanceof StepFailed) throw error.cause ?? error;
    if (error instanceof TooManyConflicts) throw new IpamError("busy", error.message, { next: busyNext, cause: error });
    throw error;
  }
}

const busyNext = "try again; if it lasts, look who else keeps writing the same blocks";

class Waits {
  readonly #edge: Edge;
  readonly #races: Backoff;
  readonly #failures: Backoff;
  #lost = 0;

  constructor(edge: Edge) {
    this.#edge = edge;
    const limits = { retryAfterCapMs: longestAskedWaitMs } as const;
    this.#races = new Backoff(edge.random, { ...limits, capMs: longestRaceWaitMs, spread: "whole" });
    this.#failures = new Backoff(edge.random, { ...limits, capMs: longestFailureWaitMs, spread: "half" });
  }

  async after(step: Step, answer: Answer, signal: AbortSignal | undefined): Promise<void> {
    const delayMs = this.#delayMs(step, answer);
    if (delayMs <= 0 || signal?.aborted) return;
    // An abort while waiting is met by the next step.
    await this.#edge.clock.sleep(delayMs, signal).catch(() => undefined);
  }

  #delayMs(step: Step, answer: Answer): number {
    if (answer.is === "failed") {
      return this.#failures.nextDelayMs(firstFailureWaitMs, askedWaitMs(answer.error));
    }
    const isRace = answer.is === "conflict" && (step.do === "update" || step.do === "delete");
    if (!isRace) return 0;
    this.#lost += 1;
    return this.#lost <= racesWithoutWait ? 0 : this.#races.nextDelayMs(firstRaceWaitMs);
  }
}

/** What the server asked for, however often its error was wrapped. */
function askedWaitMs(error: unknown): number | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (isDatastoreError(at) && at.retryAfterMs !== undefined) return at.retryAfterMs;
  }
  return undefined;
}
