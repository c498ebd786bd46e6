// Where a socket lays down what it reads: memory that is used again for every read. A buffer for each read, which is what
// sockets make by themselves, is 16 MB for a snapshot that the garbage collector has to find (bench/client).
import type { OnReadOpts } from "node:net";

const readBytes = 1 << 16;

export class Arrivals {
  /** For the socket's options. It stops reading after each read; asking it for more lets it go on. */
  readonly onread: OnReadOpts;
  #arrived = Buffer.allocUnsafeSlow(readBytes);
  #bytes = 0;
  /** What was taken last; memory for what arrives after the next time. */
  #taken = Buffer.allocUnsafeSlow(readBytes);
  #wake: () => void = () => undefined;

  constructor() {
    const buffer = Buffer.allocUnsafeSlow(readBytes);
    this.onread = {
      buffer,
      callback: (bytes) => {
        this.#keep(buffer.subarray(0, bytes));
        this.#wake();
        return false;
      },
    };
  }

  /** Hears of every arrival. */
  set onArrival(wake: () => void) {
    this.#wake = wake;
  }

  /** What has arrived since something was taken last, if anything: valid until something is taken again. */
  take(): Buffer | undefined {
    if (this.#bytes === 0) return undefined;
    const taken = this.#arrived;
    const bytes = this.#bytes;
    this.#arrived = this.#taken;
    this.#taken = taken;
    this.#bytes = 0;
    return taken.subarray(0, bytes);
  }

  // TLS hands over every record of what it has read, one after the other in the same memory, whether it was told to stop or
  // not. That is no more than what it has read from the socket below it, which does stop.
  #keep(bytes: Uint8Array): void {
    const needed = this.#bytes + bytes.length;
    if (needed > this.#arrived.length) {
      const grown = Buffer.allocUnsafeSlow(needed * 2);
      grown.set(this.#arrived.subarray(0, this.#bytes));
      this.#arrived = grown;
    }
    this.#arrived.set(bytes, this.#bytes);
    this.#bytes = needed;
  }
}
