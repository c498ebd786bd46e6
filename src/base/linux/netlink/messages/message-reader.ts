// Takes netlink bytes apart. Nothing is copied or made for what a length claims: lengths are checked against what is there first.
import { ipText } from "./ip-bytes.ts";
import { malformed } from "./malformed.ts";
import { isLittleEndian } from "./message-writer.ts";

export type Message = {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  readonly body: Span;
};

const headerBytes = 16;
const typeMask = 0x3fff; // without NLA_F_NESTED and NLA_F_NET_BYTEORDER
const text = new TextDecoder("utf-8");

/** A piece of the bytes that were received; valid until the buffer is received into again. */
export class Span {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly start: number;
  readonly end: number;

  constructor(bytes: Uint8Array, view: DataView, start: number, end: number) {
    this.bytes = bytes;
    this.view = view;
    this.start = start;
    this.end = end;
  }

  static of(bytes: Uint8Array): Span {
    return new Span(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length);
  }

  get length(): number {
    return this.end - this.start;
  }

  /** From the offset on. */
  from(offset: number): Span {
    if (offset > this.length) throw malformed(`${this.length} bytes where ${offset} and more belong`);
    return new Span(this.bytes, this.view, this.start + offset, this.end);
  }

  /** The first bytes of it. */
  until(length: number): Span {
    if (length > this.length) throw malformed(`${this.length} bytes where ${length} belong`);
    return new Span(this.bytes, this.view, this.start, this.start + length);
  }

  u8(offset = 0): number {
    this.#check(offset, 1);
    return this.view.getUint8(this.start + offset);
  }

  u16(offset = 0): number {
    this.#check(offset, 2);
    return this.view.getUint16(this.start + offset, isLittleEndian);
  }

  u16Network(): number {
    this.#check(0, 2);
    return this.view.getUint16(this.start, false);
  }

  u32(offset = 0): number {
    this.#check(offset, 4);
    return this.view.getUint32(this.start + offset, isLittleEndian);
  }

  u32Network(): number {
    this.#check(0, 4);
    return this.view.getUint32(this.start, false);
  }

  i32(offset = 0): number {
    this.#check(offset, 4);
    return this.view.getInt32(this.start + offset, isLittleEndian);
  }

  /** Up to the first zero byte. */
  text(): string {
    const own = this.borrow();
    const zero = own.indexOf(0);
    return text.decode(zero < 0 ? own : own.subarray(0, zero));
  }

  /** Only to be looked at, not to be kept. */
  borrow(): Uint8Array {
    return this.bytes.subarray(this.start, this.end);
  }

  /** Calls for each attribute in order. */
  attributes(visit: (type: number, value: Span) => void): void {
    let at = this.start;
    while (this.end - at >= 4) {
      const length = this.view.getUint16(at, isLittleEndian);
      if (length < 4 || length > this.end - at) throw malformed(`an attribute of ${length} bytes in ${this.end - at}`);
      visit(
        this.view.getUint16(at + 2, isLittleEndian) & typeMask,
        new Span(this.bytes, this.view, at + 4, at + length),
      );
      at += (length + 3) & ~3;
    }
  }

  #check(offset: number, bytes: number): void {
    if (this.start + offset + bytes > this.end) {
      throw malformed(`${this.length} bytes where ${offset + bytes} belong`);
    }
  }
}

/**
 * Steps through attributes without making anything for each: for routes, of which there are many (bench/netlink: half the time of
 * Span.attributes).
 */
export class AttributeCursor {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #end: number;
  #next: number;
  /** Of the attribute that the cursor is at. */
  type = 0;
  #valueAt = 0;
  #valueEnd = 0;

  constructor(span: Span, offset: number) {
    if (offset > span.length) throw malformed(`${span.length} bytes where ${offset} and more belong`);
    this.#bytes = span.bytes;
    this.#view = span.view;
    this.#next = span.start + offset;
    this.#end = span.end;
  }

  /** To the next one; false: there is none. */
  step(): boolean {
    const at = this.#next;
    const left = this.#end - at;
    if (left < 4) return false;
    const length = this.#view.getUint16(at, isLittleEndian);
    if (length < 4 || length > left) throw malformed(`an attribute of ${length} bytes in ${left}`);
    this.type = this.#view.getUint16(at + 2, isLittleEndian) & typeMask;
    this.#valueAt = at + 4;
    this.#valueEnd = at + length;
    this.#next = at + ((length + 3) & ~3);
    return true;
  }

  u32(): number {
    if (this.#valueAt + 4 > this.#valueEnd) throw malformed(`${this.#valueEnd - this.#valueAt} bytes where 4 belong`);
    return this.#view.getUint32(this.#valueAt, isLittleEndian);
  }

  /** Only to be looked at, not to be kept. */
  borrow(): Uint8Array {
    return this.#bytes.subarray(this.#valueAt, this.#valueEnd);
  }

  /** An IP address as text: of four bytes without a step in between. */
  address(): string {
    const at = this.#valueAt;
    const bytes = this.#bytes;
    if (this.#valueEnd - at !== 4) return ipText(this.borrow());
    return `${bytes[at]}.${bytes[at + 1]}.${bytes[at + 2]}.${bytes[at + 3]}`;
  }

  span(): Span {
    return new Span(this.#bytes, this.#view, this.#valueAt, this.#valueEnd);
  }
}

/** The messages of one datagram, in order. */
export function* readMessages(datagram: Uint8Array): Generator<Message, void, undefined> {
  const all = Span.of(datagram);
  let at = 0;
  while (all.length - at >= headerBytes) {
    const length = all.u32(at);
    if (length < headerBytes || length > all.length - at) {
      throw malformed(`a message of ${length} bytes in ${all.length - at}`);
    }
    const body = new Span(datagram, all.view, at + headerBytes, at + length);
    yield { type: all.u16(at + 4), flags: all.u16(at + 6), sequence: all.u32(at + 8), body };
    at += (length + 3) & ~3;
  }
  if (at < all.length) throw malformed(`${all.length - at} bytes after the last message`);
}
