// Bytes that wait for the rest of their unit. What comes whole is never copied; what comes in small splits is copied into
// a buffer that doubles, so that one byte at a time costs no more than linear time.

const nothing = new Uint8Array(0);

export class ByteQueue {
  #buffer: Uint8Array = nothing;
  #start = 0;
  #end = 0;
  /** Whether #buffer is ours to append to, rather than what somebody fed. */
  #isOwn = false;

  get length(): number {
    return this.#end - this.#start;
  }

  push(bytes: Uint8Array): void {
    if (this.length === 0) {
      this.#buffer = bytes;
      this.#start = 0;
      this.#end = bytes.length;
      this.#isOwn = false;
      return;
    }
    if (!this.#isOwn || this.#end + bytes.length > this.#buffer.length) this.#grow(this.length + bytes.length);
    this.#buffer.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  /** All that is here, where it lies: valid until the next push(). */
  peek(): Uint8Array {
    return this.#buffer.subarray(this.#start, this.#end);
  }

  /** The first `count` bytes; they must be here. */
  take(count: number): Uint8Array {
    const taken = this.#buffer.subarray(this.#start, this.#start + count);
    this.#start += count;
    return this.#isOwn ? taken.slice() : taken;
  }

  #grow(needed: number): void {
    const grown = new Uint8Array(Math.max(needed, this.length * 2, 1024));
    grown.set(this.peek());
    this.#buffer = grown;
    this.#end = this.length;
    this.#start = 0;
    this.#isOwn = true;
  }
}
