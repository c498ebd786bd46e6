// Bytes that wait for the rest of their unit, in a buffer that doubles, so that one byte at a time costs no more than linear
// time. What is pushed is copied: its memory is the reader's, who reads into it again.

export class ByteQueue {
  #buffer = new Uint8Array(0);
  #start = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  push(bytes: Uint8Array): void {
    if (this.length === 0) {
      this.#start = 0;
      this.#end = 0;
    }
    if (this.#end + bytes.length > this.#buffer.length) this.#grow(this.length + bytes.length);
    this.#buffer.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  /** All that is here, where it lies: valid until the next push(). */
  peek(): Uint8Array {
    return this.#buffer.subarray(this.#start, this.#end);
  }

  /** The first `count` bytes, which must be here, where they lie: valid until the next push(). */
  take(count: number): Uint8Array {
    this.#start += count;
    return this.#buffer.subarray(this.#start - count, this.#start);
  }

  #grow(needed: number): void {
    const grown = new Uint8Array(Math.max(needed, this.length * 2, 1024));
    grown.set(this.peek());
    this.#buffer = grown;
    this.#end = this.length;
    this.#start = 0;
  }
}
