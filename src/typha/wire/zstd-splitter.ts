// Finds where zstd frames end, so that each can be decompressed whole: Node's synchronous decompressor takes nothing less.
// Reads frame and block headers only (RFC 8878, section 3.1).
//
//   frame = 28 b5 2f fd | descriptor | window? | dictionary? | content size? | blocks | checksum?
//   block = 3 bytes, little-endian: last (1 bit), type (2 bits), size (21 bits) | content

export class ZstdError extends Error {
  override readonly name = "ZstdError";
}

const frameMagic = 0xfd2fb528;
const skippableMagic = 0x184d2a50;
const maxBlockBytes = 128 * 1024;

export class ZstdSplitter {
  readonly #queue = new ByteQueue();
  readonly #maxFrameBytes: number;
  // How far into the frame its headers have been followed; the header at this place has not been read yet.
  #at = 0;
  #state: "magic" | "block" | "last" = "magic";
  #hasChecksum = false;

  constructor(maxFrameBytes: number) {
    this.#maxFrameBytes = maxFrameBytes;
  }

  feed(bytes: Uint8Array): void {
    this.#queue.push(bytes);
  }

  rest(): Uint8Array {
    return this.#queue.peek();
  }

  /** The next whole frame, valid until more is fed, or undefined until then. Throws a ZstdError for what is no zstd. */
  next(): Uint8Array | undefined {
    for (;;) {
      const bytes = this.#queue.peek();
      if (this.#at > this.#maxFrameBytes) throw new ZstdError(`a frame longer than ${this.#maxFrameBytes} bytes`);
      if (this.#state === "magic") {
        const skip = skippableBytes(bytes);
        if (skip !== undefined) {
          if (skip > this.#maxFrameBytes) throw new ZstdError(`a skippable frame of ${skip} bytes`);
          if (bytes.length < skip) return undefined;
          this.#queue.take(skip);
          continue;
        }
        const header = headerBytes(bytes);
        if (header === undefined) return undefined;
        this.#at = header;
        this.#hasChecksum = ((bytes[4] ?? 0) & 0x04) !== 0;
        this.#state = "block";
      } else if (this.#state === "block") {
        if (bytes.length < this.#at + 3) return undefined;
        this.#readBlock(bytes);
      } else {
        const end = this.#at + (this.#hasChecksum ? 4 : 0);
        if (bytes.length < end) return undefined;
        this.#state = "magic";
        this.#at = 0;
        return this.#queue.take(end);
      }
    }
  }

  #readBlock(bytes: Uint8Array): void {
    const header = littleEndian(bytes, this.#at, 3);
    const type = (header >>> 1) & 3;
    const size = header >>> 3;
    if (type === 3 || size > maxBlockBytes) throw new ZstdError(`a block of type ${type} and ${size} bytes`);
    this.#at += 3 + (type === 1 ? 1 : size);
    if ((header & 1) === 1) this.#state = "last";
  }
}

// Undefined where this is no skippable frame, or too little to tell.
function skippableBytes(bytes: Uint8Array): number | undefined {
  if (bytes.length < 8 || (littleEndian(bytes, 0, 4) & 0xfffffff0) >>> 0 !== skippableMagic) return undefined;
  return 8 + littleEndian(bytes, 4, 4);
}

function headerBytes(bytes: Uint8Array): number | undefined {
  if (bytes.length < 4) return undefined;
  const magic = littleEndian(bytes, 0, 4);
  if ((magic & 0xfffffff0) >>> 0 === skippableMagic) return undefined;
  if (magic !== frameMagic) throw new ZstdError("a frame that does not begin as zstd does");
  const descriptor = bytes[4];
  if (descriptor === undefined) return undefined;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >>> 6] ?? 0;
  return 5 + (isSingleSegment ? 0 : 1) + dictionaryBytes + sizeBytes;
}

function littleEndian(bytes: Uint8Array, at: number, count: number): number {
  let value = 0;
  for (let index = count - 1; index >= 0; index -= 1) value = value * 256 + (bytes[at + index] ?? 0);
  return value;
}

/**
 * Bytes that wait for the rest of their unit, in a buffer that doubles, so that one byte at a time costs no more than linear
 * time. What is pushed is copied: its memory is the reader's, who reads into it again.
 */
class ByteQueue {
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
