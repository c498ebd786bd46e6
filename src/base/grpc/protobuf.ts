// protobuf's wire format without its compiler: a reader that makes nothing but what it is asked for,
// and a writer for small requests. 64-bit numbers are decimal text, exact to the last digit.

/** What was received is no protobuf message, or not the one that was meant. */
export class ProtobufError extends Error {}

const wireType = { varint: 0, eightBytes: 1, lengthDelimited: 2, fourBytes: 5 } as const;

/**
 *   for (let field = reader.field(); field !== 0; field = reader.field()) {
 *     if (field === 1) key = reader.bytes();
 *     else reader.skip();
 *   }
 */
export class ProtobufReader {
  readonly #source: Buffer;
  #at = 0;
  #end: number;
  #wireType = 0;

  constructor(source: Buffer) {
    this.#source = source;
    this.#end = source.length;
  }

  /** The number of the next field, whose value is to be read or skipped; 0 after the message's last. */
  field(): number {
    if (this.#at === this.#end) return 0;
    const tag = this.#varint();
    this.#wireType = tag & 7;
    const number = Math.floor(tag / 8);
    if (number === 0) throw new ProtobufError("a protobuf field has the number 0");
    return number;
  }

  bool(): boolean {
    this.#want(wireType.varint);
    return this.#varint() !== 0;
  }

  /** An enum's number, or any other small one. */
  small(): number {
    this.#want(wireType.varint);
    return this.#varint();
  }

  int64(): string {
    this.#want(wireType.varint);
    const start = this.#at;
    while (this.#byte() >= 128);
    const length = this.#at - start;
    if (length > 10) throw new ProtobufError("a protobuf number has more than ten bytes");
    if (length > 7) return this.#longInt64(start);
    let value = 0;
    for (let i = this.#at - 1; i >= start; i--) value = value * 128 + ((this.#source[i] ?? 0) & 127);
    return String(value);
  }

  bytes(): Buffer {
    const end = this.#delimited();
    const bytes = this.#source.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  text(): string {
    const end = this.#delimited();
    const text = this.#source.toString("utf8", this.#at, end);
    this.#at = end;
    return text;
  }

  /** A message within this one; `read` finds this reader at its start. */
  message<T>(read: (reader: ProtobufReader) => T): T {
    const outerEnd = this.#end;
    this.#end = this.#delimited();
    const value = read(this);
    this.#at = this.#end;
    this.#end = outerEnd;
    return value;
  }

  skip(): void {
    if (this.#wireType === wireType.varint) while (this.#byte() >= 128);
    else if (this.#wireType === wireType.lengthDelimited) this.#at = this.#delimited();
    else if (this.#wireType === wireType.eightBytes) this.#at = this.#upTo(8);
    else if (this.#wireType === wireType.fourBytes) this.#at = this.#upTo(4);
    else throw new ProtobufError(`a protobuf field has the wire type ${this.#wireType}`);
  }

  #want(expected: number): void {
    if (this.#wireType !== expected) {
      throw new ProtobufError(`a protobuf field has the wire type ${this.#wireType}, not ${expected}`);
    }
  }

  #delimited(): number {
    this.#want(wireType.lengthDelimited);
    return this.#upTo(this.#varint());
  }

  #upTo(length: number): number {
    const end = this.#at + length;
    if (end > this.#end) throw new ProtobufError("a protobuf message ends in the middle of a field");
    return end;
  }

  #byte(): number {
    const byte = this.#source[this.#at];
    if (byte === undefined || this.#at >= this.#end) {
      throw new ProtobufError("a protobuf message ends in the middle of a number");
    }
    this.#at += 1;
    return byte;
  }

  // Tags, lengths, booleans and enums: what does not fit exactly is none of them.
  #varint(): number {
    let value = this.#byte();
    if (value < 128) return value;
    value -= 128;
    for (let scale = 128; ; scale *= 128) {
      const byte = this.#byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      if (scale > 2 ** 42) throw new ProtobufError("a protobuf length or tag is too large");
    }
  }

  #longInt64(start: number): string {
    let value = 0n;
    for (let i = this.#at - 1; i >= start; i--) value = (value << 7n) | BigInt((this.#source[i] ?? 0) & 127);
    return String(BigInt.asIntN(64, value));
  }
}

/** Undefined is left out. Text and bytes are written with their length, all else as a number. */
export type ProtobufValue = Uint8Array | string | number | bigint | boolean | undefined;

/** A message of these fields. A message within is given by its own bytes. */
export function protobuf(fields: readonly (readonly [number: number, value: ProtobufValue])[]): Buffer {
  const parts: Uint8Array[] = [];
  for (const [number, value] of fields) {
    if (value === undefined) continue;
    if (typeof value === "string" || value instanceof Uint8Array) {
      const bytes = typeof value === "string" ? Buffer.from(value) : value;
      parts.push(varint(number * 8 + wireType.lengthDelimited), varint(bytes.length), bytes);
    } else {
      parts.push(varint(number * 8 + wireType.varint), varint(value));
    }
  }
  return Buffer.concat(parts);
}

function varint(value: number | bigint | boolean): Uint8Array {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, BigInt(value));
  for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) | 128);
  bytes.push(Number(left));
  return Uint8Array.from(bytes);
}
