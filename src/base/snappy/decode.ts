// A stream of chunks to plain bytes, fed in any split. Never holds more than one unfinished chunk, and believes no
// length before it is checked: what a chunk claims costs nothing until its bytes are there.
import { blockOpener } from "./block.ts";
import {
  checksumBytes,
  chunkType,
  headerBytes,
  identifierBody,
  maskedChecksum,
  maxBodyBytes,
  maxContentBytes,
} from "./format.ts";
import { SnappyError, type SnappyErrorCode } from "./snappy-error.ts";

const nothing = new Uint8Array(0);

/**
 * Use: feed(bytes), then next() until it answers undefined, and again. Pulling chunk by chunk lets a reader that meets
 * the end of its stream in one chunk stop there and take the rest() elsewhere.
 */
export class SnappyDecoder {
  readonly #openBlock = blockOpener();
  #input: Uint8Array = nothing;
  #at = 0;
  // The beginning of a chunk whose end has not come yet: header and body, as far as they are here.
  #held: Uint8Array = nothing;
  #heldBytes = 0;
  #chunkOffset = 0;
  #isIdentified = false;
  #failed: SnappyError | undefined;

  /** Hands over more of the stream. What was fed before must have been taken: next() has answered undefined. */
  feed(bytes: Uint8Array): void {
    if (this.#at < this.#input.length) throw new Error("the decoder still holds bytes: call next() until undefined");
    this.#input = bytes;
    this.#at = 0;
  }

  /**
   * The plain bytes of the next data chunk, or undefined when more must be fed first. The bytes lie in memory of the
   * decoder or in what was fed: use or copy them before the next call, and before that memory is used again.
   */
  next(): Uint8Array | undefined {
    if (this.#failed !== undefined) throw this.#failed;
    for (;;) {
      const chunk = this.#takeChunk();
      if (chunk === undefined) return undefined;
      const content = this.#open(chunk);
      this.#chunkOffset += chunk.length;
      if (content !== undefined && content.length > 0) return content;
    }
  }

  /** What was fed and not yet looked at. The decoder is done after this. */
  rest(): Uint8Array {
    const rest = this.#input.subarray(this.#at);
    if (this.#heldBytes === 0) return rest;
    const joined = new Uint8Array(this.#heldBytes + rest.length);
    joined.set(this.#held.subarray(0, this.#heldBytes));
    joined.set(rest, this.#heldBytes);
    return joined;
  }

  // A whole chunk with its header, lying in the input where it came in one piece, or in #held where it did not.
  #takeChunk(): Uint8Array | undefined {
    if (this.#heldBytes > 0) return this.#takeHeldChunk();
    const available = this.#input.length - this.#at;
    if (available >= headerBytes) {
      const chunkBytes = headerBytes + this.#checkHeader(this.#input, this.#at);
      if (available >= chunkBytes) {
        const chunk = this.#input.subarray(this.#at, this.#at + chunkBytes);
        this.#at += chunkBytes;
        return chunk;
      }
    }
    if (available > 0) this.#hold(available);
    return undefined;
  }

  #takeHeldChunk(): Uint8Array | undefined {
    if (this.#heldBytes < headerBytes) this.#hold(headerBytes - this.#heldBytes);
    if (this.#heldBytes < headerBytes) return undefined;
    const chunkBytes = headerBytes + this.#checkHeader(this.#held, 0);
    this.#hold(chunkBytes - this.#heldBytes);
    if (this.#heldBytes < chunkBytes) return undefined;
    this.#heldBytes = 0;
    return this.#held.subarray(0, chunkBytes);
  }

  // Moves up to `wanted` bytes from the input to #held, which grows by doubling to the longest chunk and no further.
  #hold(wanted: number): void {
    const taken = Math.min(wanted, this.#input.length - this.#at);
    const needed = this.#heldBytes + taken;
    if (needed > this.#held.length) {
      const grown = new Uint8Array(Math.min(Math.max(needed, this.#held.length * 2, 512), headerBytes + maxBodyBytes));
      grown.set(this.#held.subarray(0, this.#heldBytes));
      this.#held = grown;
    }
    this.#held.set(this.#input.subarray(this.#at, this.#at + taken), this.#heldBytes);
    this.#heldBytes = needed;
    this.#at += taken;
  }

  // Everything that can be said from the header alone is said before a byte of the body is waited for.
  #checkHeader(bytes: Uint8Array, at: number): number {
    const type = bytes[at] ?? 0;
    const bodyLength = (bytes[at + 1] ?? 0) | ((bytes[at + 2] ?? 0) << 8) | ((bytes[at + 3] ?? 0) << 16);
    if (!this.#isIdentified && type !== chunkType.identifier) {
      this.#fail("SNAPPY_NO_IDENTIFIER", `the stream opens with a chunk of type ${hex(type)}, not with its identifier`);
    }
    if (bodyLength > maxBodyBytes) {
      this.#fail("SNAPPY_CHUNK_TOO_LONG", `a chunk claims ${bodyLength} bytes; the most is ${maxBodyBytes}`);
    }
    if (type === chunkType.identifier) {
      if (bodyLength !== identifierBody.length) {
        this.#fail("SNAPPY_BAD_IDENTIFIER", `a stream identifier of ${bodyLength} bytes`);
      }
    } else if (type === chunkType.compressed || type === chunkType.plain) {
      if (bodyLength < checksumBytes) {
        this.#fail("SNAPPY_CHUNK_TOO_SHORT", `a data chunk of ${bodyLength} bytes cannot hold its checksum`);
      }
      if (type === chunkType.plain && bodyLength - checksumBytes > maxContentBytes) this.#failTooLong(bodyLength - 4);
    } else if (type < chunkType.firstSkippable) {
      this.#fail("SNAPPY_UNSUPPORTED_CHUNK", `a chunk of type ${hex(type)}, which may not be skipped`);
    }
    return bodyLength;
  }

  // Undefined: a chunk that carries no data.
  #open(chunk: Uint8Array): Uint8Array | undefined {
    const type = chunk[0];
    if (type === chunkType.identifier) {
      if (!identifierBody.every((byte, index) => chunk[headerBytes + index] === byte)) {
        this.#fail("SNAPPY_BAD_IDENTIFIER", "a stream identifier that does not say sNaPpY");
      }
      this.#isIdentified = true;
      return undefined;
    }
    if (type !== chunkType.compressed && type !== chunkType.plain) return undefined;
    const body = chunk.subarray(headerBytes + checksumBytes);
    const content = type === chunkType.plain ? body : this.#uncompress(body);
    const claimed =
      ((chunk[4] ?? 0) | ((chunk[5] ?? 0) << 8) | ((chunk[6] ?? 0) << 16) | ((chunk[7] ?? 0) << 24)) >>> 0;
    if (claimed !== maskedChecksum(content)) this.#fail("SNAPPY_BAD_CHECKSUM", "a chunk does not match its checksum");
    return content;
  }

  #uncompress(block: Uint8Array): Uint8Array {
    const claim = readClaim(block);
    if (claim === undefined) this.#fail("SNAPPY_BAD_BLOCK", "a block without a length");
    const { contentBytes, headerBytes: blockHeaderBytes } = claim;
    if (contentBytes > maxContentBytes) this.#failTooLong(contentBytes);
    if (contentBytes === 0 && block.length === 1) return nothing;
    const content = this.#openBlock(block, blockHeaderBytes, contentBytes);
    return content ?? this.#fail("SNAPPY_BAD_BLOCK", "a block that cannot be decompressed");
  }

  #failTooLong(contentBytes: number): never {
    this.#fail("SNAPPY_CONTENT_TOO_LONG", `a chunk stands for ${contentBytes} bytes; the most is ${maxContentBytes}`);
  }

  #fail(code: SnappyErrorCode, problem: string): never {
    this.#failed = new SnappyError(code, { problem, offset: this.#chunkOffset });
    throw this.#failed;
  }
}

// A block opens with the length it stands for: seven bits a byte, lowest first, at most 64 bits.
function readClaim(block: Uint8Array): { contentBytes: number; headerBytes: number } | undefined {
  let length = 0;
  for (let index = 0; index < 10; index += 1) {
    const byte = block[index];
    if (byte === undefined) return undefined;
    length += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return { contentBytes: length, headerBytes: index + 1 };
  }
  return undefined;
}

function hex(byte: number): string {
  return `0x${byte.toString(16).padStart(2, "0")}`;
}
