// A growing buffer with gob's scalars. Hot: bench/gob measures it.
import { GobError } from "../error.ts";
import type { ArrayNode, MapNode, Node, OpaqueNode, SliceNode, StructNode } from "../schema/schema.ts";

const utf8 = new TextEncoder();
const floatBytes = new Uint8Array(8);
const floatView = new DataView(floatBytes.buffer);

const scratchBytes = 1024;

function scratchOf(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return bytes.subarray(bytes.length - scratchBytes);
}

/** What a definition can describe. */
export type Described = SliceNode | ArrayNode | MapNode | StructNode | OpaqueNode;

/** A type that needs a definition: its id, and the types it refers to, in order. */
export type TypeEntry = { id: number; readonly node: Described; parts: TypeEntry[] };

/** Of the encoder's types (type-table.ts), what writing an id asks for. */
type TypeIds = {
  idOf(node: Node): number;
  entryOf(node: Node): TypeEntry | undefined;
};

export class Writer {
  bytes: Uint8Array<ArrayBuffer>;
  length = 0;
  /** The types whose ids were written: a stream must have seen their definitions. */
  readonly used = new Set<TypeEntry>();
  readonly #types: TypeIds;
  /** The last part of `bytes`, which nothing is written to for good. */
  #scratch: Uint8Array<ArrayBuffer>;

  constructor(types: TypeIds, capacity = 512) {
    this.#types = types;
    this.bytes = new Uint8Array(capacity + scratchBytes);
    this.#scratch = scratchOf(this.bytes);
  }

  /** Makes room for `count` more bytes. */
  reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.bytes.length - scratchBytes) return;
    const grown = new Uint8Array(Math.max(needed + scratchBytes, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
    this.#scratch = scratchOf(grown);
  }

  byte(value: number): void {
    if (this.length >= this.bytes.length - scratchBytes) this.reserve(1);
    this.bytes[this.length++] = value;
  }

  /** A whole number from 0 to 2^53 - 1; the caller has checked that it is one. */
  uint(value: number): void {
    if (value < 0x80) {
      this.byte(value);
      return;
    }
    this.reserve(9);
    this.length = putUint(this.bytes, this.length, value);
  }

  /** A signed whole number whose size is below 2^52. */
  int(value: number): void {
    this.uint(value < 0 ? -value * 2 - 1 : value * 2);
  }

  bigUint(value: bigint): void {
    if (value <= 0xffff_ffffn) {
      this.uint(Number(value));
      return;
    }
    const high = Number(value >> 32n);
    const low = Number(value & 0xffff_ffffn);
    const width = high < 0x100 ? 5 : high < 0x1_0000 ? 6 : high < 0x100_0000 ? 7 : 8;
    this.reserve(9);
    this.bytes[this.length] = 0x100 - width;
    const end = this.length + 1 + width;
    for (let i = 0; i < width; i++) this.bytes[end - 1 - i] = i < 4 ? low >>> (8 * i) : high >>> (8 * (i - 4));
    this.length = end;
  }

  bigInt(value: bigint): void {
    this.bigUint(value < 0n ? -value * 2n - 1n : value * 2n);
  }

  float(value: number): void {
    floatView.setFloat64(0, value, true);
    let first = 0;
    while (first < 7 && floatBytes[first] === 0) first++;
    const top = floatBytes[first] ?? 0;
    if (first === 7 && top < 0x80) {
      this.byte(top);
      return;
    }
    this.reserve(9);
    this.bytes[this.length++] = 0x100 - (8 - first);
    for (let i = first; i < 8; i++) this.bytes[this.length++] = floatBytes[i] ?? 0;
  }

  /** The id of the type that follows, as the head of a message and of an interface value. */
  typeId(node: Node): void {
    const entry = this.#types.entryOf(node);
    if (entry !== undefined) this.used.add(entry);
    this.int(entry?.id ?? this.#types.idOf(node));
  }

  raw(bytes: Uint8Array): void {
    const count = bytes.length;
    this.reserve(count);
    // A call costs more than a few bytes do.
    if (count > 16) this.bytes.set(bytes, this.length);
    else for (let i = 0; i < count; i++) this.bytes[this.length + i] = bytes[i] as number;
    this.length += count;
  }

  byteString(bytes: Uint8Array): void {
    const count = bytes.length;
    this.reserve(count + 9);
    const at = putUint(this.bytes, this.length, count);
    if (count > 16) this.bytes.set(bytes, at);
    else for (let i = 0; i < count; i++) this.bytes[at + i] = bytes[i] as number;
    this.length = at + count;
  }

  string(value: string): void {
    const count = value.length;
    if (count < 48 && this.#shortAscii(value, count)) return;
    if (count * 3 <= scratchBytes) {
      this.#mediumString(value);
      return;
    }
    // At most 3 bytes of UTF-8 per UTF-16 unit, and a length in front.
    this.reserve(count * 3 + 9);
    const guess = uintWidth(count);
    const start = this.length + guess;
    const { read, written } = utf8.encodeInto(value, this.bytes.subarray(start, start + count * 3));
    if (read !== count) throw new GobError("GOB_VALUE", "a string that did not fit the room made for it");
    const width = uintWidth(written);
    if (width !== guess) this.bytes.copyWithin(this.length + width, start, start + written);
    putUint(this.bytes, this.length, written);
    this.length += width + written;
  }

  /** By way of the scratch area: a view made for each string costs more than moving its bytes. */
  #mediumString(value: string): void {
    this.reserve(scratchBytes + 9);
    const { written } = utf8.encodeInto(value, this.#scratch);
    const at = putUint(this.bytes, this.length, written);
    const from = this.bytes.length - scratchBytes;
    this.bytes.copyWithin(at, from, from + written);
    this.length = at + written;
  }

  /** Keys and names are short and ASCII: for them a loop beats the call into TextEncoder. */
  #shortAscii(value: string, count: number): boolean {
    this.reserve(count + 1);
    const { bytes } = this;
    let at = this.length;
    bytes[at++] = count;
    for (let i = 0; i < count; i++) {
      const unit = value.charCodeAt(i);
      if (unit > 0x7f) return false;
      bytes[at++] = unit;
    }
    this.length = at;
    return true;
  }

  /**
   * Puts the length of everything since `start` in front of it, where `room` bytes were left for it. What was written is
   * moved only if the length takes another number of bytes; that number is returned, for the next guess.
   */
  closeLength(start: number, room: number): number {
    const count = this.length - start - room;
    const width = uintWidth(count);
    if (width !== room) {
      this.reserve(width);
      this.bytes.copyWithin(start + width, start + room, this.length);
      this.length += width - room;
    }
    putUint(this.bytes, start, count);
    return width;
  }

  /** Leaves room for a length. */
  openLength(room: number): number {
    this.reserve(room);
    this.length += room;
    return this.length - room;
  }

  take(): Uint8Array<ArrayBuffer> {
    const taken = this.bytes.slice(0, this.length);
    this.length = 0;
    return taken;
  }
}

/** Bytes that a number below 2^53 takes as a gob uint. */
export function uintWidth(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x100) return 2;
  if (value < 0x1_0000) return 3;
  if (value < 0x100_0000) return 4;
  if (value < 0x1_0000_0000) return 5;
  return value < 0x100_0000_0000 ? 6 : value < 0x1_0000_0000_0000 ? 7 : 8;
}

/** Writes a number below 2^53 as a gob uint at `at` and returns where it ends. */
export function putUint(bytes: Uint8Array, at: number, value: number): number {
  if (value < 0x80) {
    bytes[at] = value;
    return at + 1;
  }
  if (value < 0x1_0000) {
    let end = at;
    bytes[end++] = value < 0x100 ? 0xff : 0xfe;
    if (value >= 0x100) bytes[end++] = value >> 8;
    bytes[end++] = value; // a byte array keeps the low eight bits
    return end;
  }
  const width = uintWidth(value);
  bytes[at] = 0x101 - width;
  let rest = value;
  for (let i = at + width - 1; i > at; i--) {
    bytes[i] = rest % 0x100;
    rest = Math.floor(rest / 0x100);
  }
  return at + width;
}
