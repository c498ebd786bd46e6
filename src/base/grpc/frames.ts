// gRPC's messages on an HTTP/2 stream: a byte that says whether it is compressed, four of length, then the message.
import { GrpcError, grpcStatus } from "./status.ts";

const headBytes = 5;

export function frame(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(headBytes + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, headBytes);
  return bytes;
}

/** From chunks, cut anywhere, to messages. Holds no more than one message and the chunk that completes it. */
export class FrameReader {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  #wanted = headBytes;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Calls back for every message that is whole now. Throws for one that is too large, before it is held. */
  read(chunk: Buffer, onMessage: (message: Buffer) => void): void {
    this.#parts.push(chunk);
    this.#bytes += chunk.length;
    while (this.#bytes >= this.#wanted) {
      const held = this.#parts.length === 1 ? (this.#parts[0] ?? chunk) : Buffer.concat(this.#parts, this.#bytes);
      const rest = this.#handOut(held, onMessage);
      this.#parts = rest.length === 0 ? [] : [rest];
      this.#bytes = rest.length;
    }
  }

  #handOut(held: Buffer, onMessage: (message: Buffer) => void): Buffer {
    let at = 0;
    while (held.length - at >= headBytes) {
      this.#wanted = headBytes + this.#lengthAt(held, at);
      if (held.length - at < this.#wanted) return held.subarray(at);
      onMessage(held.subarray(at + headBytes, at + this.#wanted));
      at += this.#wanted;
      this.#wanted = headBytes;
    }
    return held.subarray(at);
  }

  #lengthAt(held: Buffer, at: number): number {
    if (held[at] !== 0) {
      throw new GrpcError(
        grpcStatus.internal,
        `a message begins with ${held[at]}: compressed, though nobody offered to`,
      );
    }
    const length = held.readUInt32BE(at + 1);
    if (length > this.#maxBytes) {
      throw new GrpcError(
        grpcStatus.resourceExhausted,
        `a message is larger than max (${length} vs. ${this.#maxBytes})`,
      );
    }
    return length;
  }
}
