// A position in received bytes, with gob's scalars. The bytes of a message lie in one buffer, frame behind frame:
//   data:  ... | length | frame ......... | length | frame ...
//                         ^base   ^at      ^end
// A value may go on in the next frame (only interface values do); `nextFrame` then moves the window on.
// Hot: bench/gob measures it.
import { GobError, type GobErrorCode } from "../error.ts";
import type { Node } from "../schema/schema.ts";
import type { GobLimits } from "./limits.ts";

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bytes from `start` to `end` as text: UTF-8, with U+FFFD for what is not, and a byte order mark kept. */
export type DecodeText = (bytes: Uint8Array, start: number, end: number) => string;

export const decodeUtf8: DecodeText = (bytes, start, end) => utf8.decode(bytes.subarray(start, end));

const floatBytes = new Uint8Array(8);
const floatView = new DataView(floatBytes.buffer);

const noBytes = new Uint8Array(0);
/** What decoded byte slices share. Whoever keeps one of them keeps this much. */
const slabBytes = 1 << 14;

/** Thrown where a value needs a frame that has not arrived; the decoder then waits and starts the value again. */
export const needFrame: unique symbol = Symbol("need another frame");

/** What reading an interface asks of the stream's types (type-stream.ts). */
export type ValueTypes = {
  /** The types as they are now: what is compiled holds for one table. */
  readonly table: object;
  /** Reads the id of a value's type, and on the way any definitions. */
  typeSequence(r: Reader): number;
  /** An op; read-ops.ts knows what that is. */
  valueOp(r: Reader, id: number, node: Node): unknown;
};

export class Reader {
  data: Uint8Array;
  at = 0;
  end = 0;
  /** Bytes of `data` that have arrived. */
  filled = 0;
  /** Where the current message started in `data`; may lie before it (negative). */
  messageStart = 0;
  /** Bytes of the stream in front of `data`. */
  streamOffset = 0;
  depth = 0;
  /** Elements announced so far in the message. */
  elements = 0;
  /** Structs, collections and interfaces that the present value has had so far. */
  entered = 0;
  /** Frames in which values of the stream went on. */
  continued = 0;
  /** The two halves of the last integer that `uint` returned, if it was 2^32 or more: the low one, then the high one. */
  readonly #halves = new Uint32Array(2);
  readonly limits: GobLimits;
  readonly types: ValueTypes;
  readonly #decodeText: DecodeText;
  #slab = noBytes;
  #slabAt = 0;

  constructor(from: { limits: GobLimits; types: ValueTypes; decodeText: DecodeText; data: Uint8Array }) {
    const { limits, types, decodeText, data } = from;
    this.data = data;
    this.limits = limits;
    this.types = types;
    this.#decodeText = decodeText;
  }

  fail(code: GobErrorCode, problem: string): never {
    throw new GobError(code, problem, { offset: this.streamOffset + this.at });
  }

  /**
   * Moves to the next frame. Throws `needFrame` when it has not arrived in full. Go cuts a value only where it defines a
   * type, so a stream has no more such frames than types; each may make the decoder read a value again.
   */
  nextFrame(): void {
    if (this.continued >= this.limits.types) {
      this.fail("GOB_LIMIT_FRAMES", `values cut into more than ${this.limits.types} further frames`);
    }
    const header = frameHeader(this, this.end);
    if (header === undefined || header.end > this.filled) throw needFrame;
    this.continued++;
    this.at = header.start;
    this.end = header.end;
  }

  /** A gob uint. Above 2^53 the number is only near; its halves are then exact. */
  uint(): number {
    const { data, at, end } = this;
    if (at >= end) this.fail("GOB_SHORT_DATA", "the frame ends where an integer should be");
    const first = data[at] as number; // at is below end
    if (first < 0x80) {
      this.at = at + 1;
      return first;
    }
    const width = 0x100 - first;
    if (width > 8) this.fail("GOB_BAD_UINT", `an integer of ${width} bytes`);
    if (at + width >= end) this.fail("GOB_SHORT_DATA", `the frame ends inside an integer of ${width} bytes`);
    this.at = at + 1 + width;
    if (width <= 4) {
      let value = 0;
      for (let i = at + 1; i <= at + width; i++) value = value * 0x100 + (data[i] as number);
      return value;
    }
    return this.#wideUint(at + 1, width);
  }

  #wideUint(start: number, width: number): number {
    let high = 0;
    let low = 0;
    for (let i = 0; i < width - 4; i++) high = high * 0x100 + (this.data[start + i] as number);
    for (let i = width - 4; i < width; i++) low = low * 0x100 + (this.data[start + i] as number);
    this.#halves[0] = low;
    this.#halves[1] = high;
    return high * 0x1_0000_0000 + low;
  }

  /** The high half of an integer of 2^53 or more that `uint` has just returned. */
  get high(): number {
    return this.#halves[1] as number; // there are two
  }

  get #low(): number {
    return this.#halves[0] as number;
  }

  /** A gob uint as a bigint, exact up to 64 bits. */
  bigUint(): bigint {
    const value = this.uint();
    if (value < 0x20_0000_0000_0000) return BigInt(value);
    return (BigInt(this.high) << 32n) | BigInt(this.#low);
  }

  /** A gob int; Infinity where it is no safe integer. */
  int(): number {
    const value = this.uint();
    if (value < 0x20_0000_0000_0000) return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
    const half = this.high * 0x8000_0000 + Math.floor(this.#low / 2);
    if (half >= 0x20_0000_0000_0000) return Number.POSITIVE_INFINITY;
    return this.#low % 2 === 1 ? -half - 1 : half;
  }

  bigInt(): bigint {
    const value = this.bigUint();
    return value & 1n ? ~(value >> 1n) : value >> 1n;
  }

  float(): number {
    const { data, at, end } = this;
    if (at >= end) this.fail("GOB_SHORT_DATA", "the frame ends where a float should be");
    const first = data[at] as number; // at is below end
    floatBytes.fill(0);
    if (first < 0x80) {
      floatBytes[7] = first;
      this.at = at + 1;
    } else {
      const width = 0x100 - first;
      if (width > 8) this.fail("GOB_BAD_UINT", `an integer of ${width} bytes`);
      if (at + width >= end) this.fail("GOB_SHORT_DATA", `the frame ends inside a float of ${width} bytes`);
      for (let i = 0; i < width; i++) floatBytes[8 - width + i] = data[at + 1 + i] as number;
      this.at = at + 1 + width;
    }
    return floatView.getFloat64(0, true);
  }

  /** A length of bytes that follow in this frame. */
  length(): number {
    const count = this.uint();
    if (count > this.end - this.at) this.fail("GOB_SHORT_DATA", `${count} bytes announced, ${this.end - this.at} left`);
    return count;
  }

  /** The announced bytes, where they lie: valid until the buffer is used again. */
  view(): Uint8Array {
    const count = this.length();
    this.at += count;
    return this.data.subarray(this.at - count, this.at);
  }

  /** A copy of the announced bytes. Small ones share a slab: an allocation each would cost more than the copy. */
  bytes(): Uint8Array {
    const count = this.length();
    const start = this.at;
    this.at = start + count;
    if (count > slabBytes / 4) return this.data.slice(start, this.at);
    if (count > this.#slab.length - this.#slabAt) {
      this.#slab = new Uint8Array(slabBytes);
      this.#slabAt = 0;
    }
    const copy = this.#slab.subarray(this.#slabAt, this.#slabAt + count);
    copy.set(this.data.subarray(start, this.at));
    this.#slabAt += count;
    return copy;
  }

  string(): string {
    return this.text(this.length());
  }

  /** The next `count` bytes, which the caller knows to be there, as text. */
  text(count: number): string {
    const start = this.at;
    this.at = start + count;
    if (count < 24) {
      const short = asciiString(this.data, start, this.at);
      if (short !== undefined) return short;
    }
    return this.#decodeText(this.data, start, this.at);
  }

  /** Whether the next `count` bytes, which the caller knows to be there, are these. */
  isNext(bytes: Uint8Array, count: number): boolean {
    if (bytes.length !== count) return false;
    const { data, at } = this;
    for (let i = 0; i < count; i++) if (data[at + i] !== bytes[i]) return false;
    return true;
  }

  /** Goes into a collection of `count` elements. */
  enterElements(count: number): void {
    this.enter();
    this.countElements(count);
  }

  countElements(count: number): void {
    this.elements += count;
    if (this.elements > this.limits.elements) {
      this.fail("GOB_LIMIT_ELEMENTS", `more than ${this.limits.elements} elements in one message`);
    }
  }

  enter(): void {
    this.entered++;
    if (++this.depth > this.limits.depth) this.fail("GOB_LIMIT_DEPTH", `nested deeper than ${this.limits.depth}`);
  }
}

/** Keys and names are short and ASCII: for them a loop, four at a time, beats the call into TextDecoder. */
function asciiString(data: Uint8Array, start: number, end: number): string | undefined {
  let text = "";
  let i = start;
  for (; i + 4 <= end; i += 4) {
    const a = data[i] as number; // all four are below end
    const b = data[i + 1] as number;
    const c = data[i + 2] as number;
    const d = data[i + 3] as number;
    if ((a | b | c | d) > 0x7f) return undefined;
    text += String.fromCharCode(a, b, c, d);
  }
  for (; i < end; i++) {
    const unit = data[i] as number; // i is below end
    if (unit > 0x7f) return undefined;
    text += String.fromCharCode(unit);
  }
  return text;
}

/** Where the frame that starts at `at` begins and ends, or undefined while its length has not arrived. */
export function frameHeader(r: Reader, at: number): { start: number; end: number } | undefined {
  if (at >= r.filled) return undefined;
  const first = r.data[at] as number; // at is below filled
  let start = at + 1;
  let count = first;
  if (first >= 0x80) {
    const width = 0x100 - first;
    if (width > 8)
      throw new GobError("GOB_BAD_UINT", `a frame length of ${width} bytes`, { offset: r.streamOffset + at });
    start += width;
    if (start > r.filled) return undefined;
    count = 0;
    for (let i = at + 1; i < start; i++) count = count * 0x100 + (r.data[i] as number);
  }
  const end = start + count;
  if (end - r.messageStart > r.limits.messageBytes) {
    const problem = `a message of ${end - r.messageStart} bytes or more, ${r.limits.messageBytes} allowed`;
    throw new GobError("GOB_LIMIT_MESSAGE", problem, { offset: r.streamOffset + at });
  }
  return { start, end };
}
