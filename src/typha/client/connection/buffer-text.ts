// Text by Buffer rather than TextDecoder: the same strings, without a view and an options object for each (bench/client).
// A function and no closure: V8 builds on whom it saw called, and a closure per connection would be somebody else each time.
import { Buffer } from "node:buffer"; // the global is looked up each time

/** Made for memory of bufferMemory(); any other bytes are read as well, only slower. */
export function bufferText(bytes: Uint8Array, start: number, end: number): string {
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return buffer.toString("utf8", start, end);
}

/** Memory of its own, in which nothing is wiped out that is going to be written over. */
export function bufferMemory(bytes: number): Buffer {
  return Buffer.allocUnsafeSlow(bytes);
}
