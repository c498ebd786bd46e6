// Gob bytes in, values out. Bytes arrive in any split; a value comes out as soon as its last byte is in.
// Frames are gathered in one buffer and a value is read when its first frame is complete. A value that goes on in later
// frames (Go cuts one where it defines an interface's type) is read again from its start when the next frame is there:
// a stack that can be left and entered would cost every value what only the first of a type needs.

import { GobError } from "../error.ts";
import type { Node, Schema } from "../schema/schema.ts";
import { type GobLimits, withDefaults } from "./limits.ts";
import { readBy } from "./read-ops.ts";
import { type DecodeText, decodeUtf8, frameHeader, needFrame, Reader } from "./reader.ts";
import { rootOf } from "./schema-facts.ts";
import { readId, TypeStream } from "./type-stream.ts";

/** What a decoder is given beside its limits. */
export type DecoderOptions = {
  /** What makes strings of bytes: where there is something faster than TextDecoder, as Node's Buffer is. */
  readonly decodeText?: DecodeText;
  /** What makes the memory it gathers messages in; it need not be wiped. A new Uint8Array unless said otherwise. */
  readonly allocate?: (bytes: number) => Uint8Array;
};

/** A decoder for one stream of values of one schema. */
export function decoder<T>(
  schema: Schema<T>,
  limits: Partial<GobLimits> = {},
  options: DecoderOptions = {},
): GobDecoder<T> {
  return new GobDecoder(schema, withDefaults(limits), options);
}

// What reading one value again and again may cost before it is refused: in bytes, so many times the largest message; in
// what has to be made anew, so many structs, collections and interfaces and so many times the most elements of a message.
const rereadFactor = 32;
const remadeBase = 1 << 18;
const remadeFactor = 2;

/** A buffer larger than this is let go when messages no longer need it. */
const keptBytes = 1 << 17;

/** Bytes in, values out, for one stream. After an error it is spent. decoder() makes one. */
export class GobDecoder<T> {
  readonly #root: Node;
  readonly #types = new TypeStream();
  readonly #reader: Reader;
  readonly #allocate: (bytes: number) => Uint8Array;
  /** Where the next frame to look at starts in the reader's buffer. */
  #next = 0;
  /** The frame that must be complete before it is worth reading: #next, or one behind it for a value cut in frames. */
  #waitFor = 0;
  #rereadBytes = 0;
  #remade = 0;
  #isRereading = false;
  /** The reader's count of frames at the last value's end: one that is read again counts its frames again. */
  #continued = 0;
  #failure: GobError | undefined;

  constructor(schema: Schema<T>, limits: GobLimits, options: DecoderOptions) {
    this.#root = rootOf(schema);
    this.#allocate = options.allocate ?? newBytes;
    const { decodeText = decodeUtf8 } = options;
    this.#reader = new Reader({ limits, types: this.#types, decodeText, data: this.#allocate(0) });
  }

  /**
   * Takes bytes and returns the values they complete. Throws on bad bytes; if values came before them in the same call,
   * those are returned first and the next call throws. After an error the decoder is spent.
   */
  push(bytes: Uint8Array): T[] {
    this.feed(bytes);
    const values: T[] = [];
    try {
      for (let next = this.next(); next !== undefined; next = this.next()) values.push(next.value);
    } catch (error) {
      if (values.length === 0) throw error;
    }
    return values;
  }

  /** Takes bytes without looking at them; next() then takes values out one by one. */
  feed(bytes: Uint8Array): void {
    if (this.#failure !== undefined) throw this.#failure;
    const r = this.#reader;
    this.#makeRoom(bytes.length);
    r.data.set(bytes, r.filled);
    r.filled += bytes.length;
  }

  /** The next value, or undefined until more bytes come. */
  next(): { value: T } | undefined {
    // The schema's type parameter says what its closures make.
    return this.#take(this.#root) as { value: T } | undefined;
  }

  /** As next(), for a stream that holds values of several types: the next one is read as this one. */
  nextAs<U>(schema: Schema<U>): { value: U } | undefined {
    return this.#take(rootOf(schema)) as { value: U } | undefined; // as above
  }

  #take(root: Node): { value: unknown } | undefined {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return this.#read(root);
    } catch (error) {
      this.#failure = error instanceof GobError ? error : this.#unexpected(error);
      throw this.#failure;
    }
  }

  /** limits.depth can be set beyond what the JavaScript stack holds. */
  #unexpected(cause: unknown): GobError {
    const offset = this.#reader.streamOffset + this.#reader.at;
    if (!(cause instanceof RangeError)) throw cause;
    return new GobError("GOB_LIMIT_DEPTH", "nested deeper than the JavaScript stack", { offset, cause });
  }

  /** Says that no more bytes come. Throws if the stream ends inside a message, or before all of it was taken out. */
  end(): void {
    if (this.#failure !== undefined) throw this.#failure;
    const r = this.#reader;
    const offset = r.streamOffset + r.filled;
    if (r.filled === r.messageStart) {
      this.#failure = new GobError("GOB_SPENT", "the decoder was ended", { offset });
      return;
    }
    this.#failure = this.#hasUnread()
      ? new GobError("GOB_UNREAD", "the stream was ended before next() had answered undefined", { offset })
      : new GobError("GOB_TRUNCATED", "the stream ends inside a message", { offset });
    throw this.#failure;
  }

  /** Whether what was fed ends with a frame, and next() would have something to look at. */
  #hasUnread(): boolean {
    const r = this.#reader;
    let at = this.#waitFor;
    for (let frame = frameHeader(r, at); frame !== undefined && frame.end <= r.filled; frame = frameHeader(r, at)) {
      at = frame.end;
    }
    return at === r.filled && at > this.#waitFor;
  }

  /** The bytes behind the last value that next() returned, for a protocol that changes to something else there. */
  rest(): Uint8Array {
    return this.#reader.data.slice(this.#next, this.#reader.filled);
  }

  #read(root: Node): { value: unknown } | undefined {
    const r = this.#reader;
    for (;;) {
      const waited = frameHeader(r, this.#waitFor);
      if (waited === undefined || waited.end > r.filled) return undefined;
      const first = frameHeader(r, this.#next);
      if (first === undefined) return undefined;
      r.at = first.start;
      r.end = first.end;
      r.depth = 0;
      r.elements = 0;
      r.entered = 0;
      r.continued = this.#continued;
      if (r.at === r.end) r.fail("GOB_EMPTY_FRAME", "a frame of length zero");
      const id = readId(r);
      if (id < 0) {
        this.#types.define(r, -id);
        if (r.at < r.end) r.fail("GOB_EXTRA_DATA", "bytes behind a type definition");
        this.#next = r.end;
        this.#waitFor = r.end;
        continue;
      }
      return this.#readValue(id, root);
    }
  }

  #readValue(id: number, root: Node): { value: unknown } | undefined {
    const r = this.#reader;
    const before = this.#types.mark();
    try {
      const value = readBy(r, this.#types.valueOp(r, id, root));
      const messageBytes = r.end - r.messageStart;
      this.#next = r.end;
      this.#waitFor = r.end;
      r.messageStart = r.end;
      this.#rereadBytes = 0;
      this.#remade = 0;
      this.#isRereading = false;
      this.#continued = r.continued;
      if (r.end === r.filled) this.#drained(messageBytes);
      return { value };
    } catch (error) {
      if (error !== needFrame) throw error;
      this.#types.backTo(before); // they are defined again when the value is read again
      this.#waitFor = r.end;
      this.#rereadBytes += r.end - this.#next;
      if (this.#isRereading) this.#remade += r.entered;
      this.#isRereading = true;
      const mostRemade = remadeBase + remadeFactor * r.limits.elements;
      if (this.#rereadBytes > rereadFactor * r.limits.messageBytes || this.#remade > mostRemade) {
        r.fail("GOB_LIMIT_FRAMES", "a value cut into too many frames");
      }
      // The frame it needs may be here already.
      return this.#read(root);
    }
  }

  // Messages of a snapshot are large and follow each other: new memory for each costs more than to read it (bench/client).
  // The first small one lets a large buffer go.
  #drained(messageBytes: number): void {
    const { data } = this.#reader;
    const isTooLarge = data.length > keptBytes && messageBytes * 4 < data.length;
    this.#startOver(isTooLarge ? this.#allocate(0) : data);
  }

  /** Makes room for more bytes: drops what was read from the front of the buffer and grows it as needed. */
  #makeRoom(count: number): void {
    const r = this.#reader;
    if (r.filled + count <= r.data.length) return;
    const pending = r.data.subarray(this.#next, r.filled);
    const needed = pending.length + count;
    // Moving only what leaves half of the buffer free, and doubling otherwise, keeps tiny pieces cheap.
    const isRoomy = needed <= r.data.length && pending.length * 2 <= r.data.length;
    if (isRoomy) r.data.copyWithin(0, this.#next, r.filled);
    else {
      const grown = this.#allocate(Math.max(needed, Math.min(pending.length * 2, r.limits.messageBytes), 512));
      grown.set(pending);
      r.data = grown;
    }
    this.#startOver(r.data);
  }

  /** Goes on in a buffer that starts with what was not read yet. */
  #startOver(data: Uint8Array): void {
    const r = this.#reader;
    const moved = this.#next;
    r.data = data;
    r.streamOffset += moved;
    r.messageStart -= moved;
    r.filled -= moved;
    this.#waitFor -= moved;
    this.#next = 0;
  }
}

function newBytes(bytes: number): Uint8Array {
  return new Uint8Array(bytes);
}
