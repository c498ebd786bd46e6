// Where the kinds' streams meet: batches in the order in which they came, for one reader. The bound is on updates waiting;
// when it is reached, whoever brings more waits until the reader has caught up. A batch is never split or dropped, so up
// to one batch of each kind may stand above the bound.
import type { SyncerBatch } from "../model/index.ts";

export class BatchQueue {
  readonly #maxUpdates: number;
  readonly #roomWaiters: (() => void)[] = [];
  #batches: SyncerBatch[] = [];
  #next = 0;
  #updates = 0;
  #end: { readonly error: unknown } | "open" | "closed" = "open";
  #wakeReader: (() => void) | undefined;

  constructor(maxUpdates: number) {
    this.#maxUpdates = maxUpdates;
  }

  /** Updates waiting for the reader. */
  get updates(): number {
    return this.#updates;
  }

  /** Resolves when there is room for another batch, or when nobody will read any more. */
  async room(): Promise<void> {
    while (this.#updates >= this.#maxUpdates && this.#end === "open") {
      await new Promise<void>((resolve) => this.#roomWaiters.push(resolve));
    }
  }

  push(batch: SyncerBatch): void {
    this.#batches.push(batch);
    this.#updates += batch.updates.length;
    this.#wakeReader?.();
  }

  /** What is in the queue is still read; then the reader ends. */
  close(): void {
    if (this.#end === "open") this.#end = "closed";
    this.#wakeAll();
  }

  /** The reader throws this next. */
  fail(error: unknown): void {
    if (this.#end === "open") this.#end = { error };
    this.#wakeAll();
  }

  /** Undefined: the queue is closed and empty. */
  async take(): Promise<SyncerBatch | undefined> {
    while (this.#next >= this.#batches.length) {
      if (this.#end === "closed") return undefined;
      if (this.#end !== "open") throw this.#end.error;
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
      this.#wakeReader = undefined;
    }
    const batch = this.#batches[this.#next];
    this.#next += 1;
    // Shifting an array costs its length; dropping the read half now and then does not.
    if (this.#next > 64 && this.#next * 2 > this.#batches.length) {
      this.#batches = this.#batches.slice(this.#next);
      this.#next = 0;
    }
    this.#updates -= batch?.updates.length ?? 0;
    if (this.#updates < this.#maxUpdates) for (const wake of this.#roomWaiters.splice(0)) wake();
    return batch;
  }

  #wakeAll(): void {
    this.#wakeReader?.();
    for (const wake of this.#roomWaiters.splice(0)) wake();
  }
}
