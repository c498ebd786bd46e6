// Knows how long ago the datastore last answered. Watches cannot tell: a quiet cluster and a dead connection look the
// same for minutes. So it asks one small question every few seconds; any answer counts, "not found" and "forbidden" too.

import { type Clock, deadline, type Log, messageOf } from "../../../base/lib/index.ts";
import { type Datastore, isDatastoreError } from "../../../calico/datastore/index.ts";

export type ContactOptions = {
  readonly datastore: Datastore;
  readonly clock: Clock;
  readonly log: Log;
  /** After so long a silence clients are handed over: see evacuation.ts. */
  readonly limitMs: number;
};

const clusterInformation = { namespace: "", name: "default" };

export class DatastoreContact {
  readonly #options: ContactOptions;
  readonly #intervalMs: number;
  readonly #timeoutMs: number;
  #lastAnswerMs: number;
  #problem: string | undefined;
  #hasAnswered = false;

  constructor(options: ContactOptions) {
    this.#options = options;
    // Servers look at each other from half the limit on; by then all of them must have noticed an outage that all share.
    this.#intervalMs = Math.min(5000, Math.max(250, options.limitMs / 6));
    this.#timeoutMs = Math.min(5000, Math.max(1000, options.limitMs / 3));
    this.#lastAnswerMs = options.clock.monotonicMs();
  }

  /** Since the last answer, or since the start before the first; 0 while every question was answered. */
  get silentForMs(): number {
    return this.state.is === "reachable" ? 0 : this.#options.clock.monotonicMs() - this.#lastAnswerMs;
  }

  get state(): { readonly is: "reachable" | "unreachable" | "starting"; readonly detail: string } {
    if (this.#problem !== undefined) return { is: "unreachable", detail: this.#problem };
    return { is: this.#hasAnswered ? "reachable" : "starting", detail: "" };
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      await this.#ask(signal);
      await clock.sleep(this.#intervalMs, signal).catch(() => undefined); // aborted: the loop ends
    }
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { datastore, clock, log } = this.#options;
    using limit = deadline(signal, this.#timeoutMs, clock);
    try {
      await datastore.get("ClusterInformation", clusterInformation, { signal: limit.signal });
      this.#answered(log);
    } catch (error) {
      if (signal.aborted) return;
      if (isAnswer(error)) this.#answered(log);
      else this.#failed(limit.isOver ? limit.signal.reason : error, log);
    }
  }

  #answered(log: Log): void {
    if (this.#problem !== undefined)
      log.info("The datastore answers again", { silentForMs: Math.round(this.silentForMs) });
    this.#problem = undefined;
    this.#hasAnswered = true;
    this.#lastAnswerMs = this.#options.clock.monotonicMs();
  }

  #failed(error: unknown, log: Log): void {
    const problem = messageOf(error);
    if (this.#problem === undefined) log.warn("The datastore does not answer; trying again", { problem });
    this.#problem = problem;
  }
}

function isAnswer(error: unknown): boolean {
  return isDatastoreError(
    error,
    "forbidden",
    "unauthorized",
    "not-found",
    "no-such-kind",
    "invalid",
    "unsupported",
    "rate-limited",
  );
}
