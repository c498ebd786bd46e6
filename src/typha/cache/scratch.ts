// Memory that is used over and over while messages are put together: they only live until they are compressed, and fresh
// memory for each would be tens of megabytes of garbage per snapshot.

export class Scratch {
  #memory = new Uint8Array(64 * 1024);
  #used = 0;

  /** Zeroes are not promised: what was here before may still be. */
  readonly allocate = (size: number): Uint8Array => {
    const start = this.#used;
    this.#used += size;
    if (this.#used > this.#memory.length) {
      const larger = new Uint8Array(Math.max(this.#used, 2 * this.#memory.length));
      larger.set(this.#memory.subarray(0, start));
      this.#memory = larger;
    }
    return this.#memory.subarray(start, this.#used);
  };

  /** Everything allocated since the last take(), in a row. Good until the next allocation. */
  take(): Uint8Array {
    const taken = this.#memory.subarray(0, this.#used);
    this.#used = 0;
    return taken;
  }
}
