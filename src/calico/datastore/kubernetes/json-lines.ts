// Splits a stream of bytes into lines of JSON text. A line may come in any number of pieces; one that is too long is an
// error before it is memory.
import { DatastoreError } from "../errors.ts";

const newline = 0x0a;

export class LineSplitter {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that this chunk completes. */
  *push(chunk: Buffer): Generator<string, void, undefined> {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(newline, start);
      if (end < 0) break;
      const line = this.#take(chunk.subarray(start, end));
      start = end + 1;
      if (line !== "") yield line;
    }
    if (start === chunk.length) return;
    const rest = chunk.subarray(start);
    this.#count(rest.length);
    this.#pieces.push(rest);
  }

  /** Whether the stream broke off inside a line. */
  get isInsideLine(): boolean {
    return this.#pieces.length > 0;
  }

  #take(last: Buffer): string {
    this.#count(last.length);
    const text =
      this.#pieces.length === 0 ? last.toString("utf8") : Buffer.concat([...this.#pieces, last]).toString("utf8");
    this.#pieces = [];
    this.#bytes = 0;
    return text;
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) {
      throw new DatastoreError("invalid", `the server sent a line of more than ${this.#maxBytes} bytes`);
    }
  }
}
