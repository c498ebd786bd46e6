// Batches, handed on one element at a time. What an async generator with `yield*` does, at a quarter of its price: what is
// here already is answered with one promise (bench/client: 100,000 updates in 10 ms rather than 35).

export class OneByOne<T> implements AsyncGenerator<T, undefined, undefined> {
  readonly #batches: AsyncGenerator<readonly T[]>;
  #batch: readonly T[] = [];
  #at = 0;
  /** Calls that wait for the next batch; those after them wait for their turn. */
  #waiting = 0;
  #lastTurn: Promise<unknown> = Promise.resolve();
  #isOver = false;
  readonly #signal: AbortSignal | undefined;

  /** Once the signal is aborted it is left, whatever is here already. */
  constructor(batches: AsyncGenerator<readonly T[]>, signal?: AbortSignal) {
    this.#batches = batches;
    this.#signal = signal;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#waiting === 0 && this.#at < this.#batch.length && !this.#signal?.aborted)
      return Promise.resolve(this.#take());
    this.#waiting += 1;
    const turn = this.#lastTurn.then(() => this.#takeNext());
    const ended = () => {
      this.#waiting -= 1;
    };
    this.#lastTurn = turn.then(ended, ended); // whoever asked hears of an error
    return turn;
  }

  /** Leaves the loop: what is left is dropped, and the source is told. */
  async return(): Promise<IteratorResult<T, undefined>> {
    this.#isOver = true;
    await this.#batches.return(undefined);
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<IteratorResult<T, undefined>> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  async #takeNext(): Promise<IteratorResult<T, undefined>> {
    while (this.#at >= this.#batch.length && !this.#isOver && !this.#signal?.aborted) {
      const next = await this.#batches.next();
      if (next.done === true) this.#isOver = true;
      else {
        this.#batch = next.value;
        this.#at = 0;
      }
    }
    return this.#signal?.aborted ? this.return() : this.#take();
  }

  #take(): IteratorResult<T, undefined> {
    if (this.#isOver) return { done: true, value: undefined };
    const value = this.#batch[this.#at] as T; // there is one: both callers have looked
    this.#at += 1;
    return { done: false, value };
  }
}
