// Calls for one pod, one after the other. A runtime that was killed, or gave up, may send DEL while ADD is still at work here: then DEL
// comes after it, and finds what it made or left.

export class OneAtATime {
  readonly #last = new Map<string, Promise<unknown>>();

  /** How many calls are under way or wait. */
  get size(): number {
    return this.#last.size;
  }

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const own = before.then(work, work);
    this.#last.set(key, own);
    try {
      return await own;
    } finally {
      if (this.#last.get(key) === own) this.#last.delete(key);
    }
  }

  /** Resolves when nothing is under way. What went wrong was told to who asked. */
  async idle(): Promise<void> {
    while (this.#last.size > 0) await Promise.allSettled(this.#last.values());
  }
}
