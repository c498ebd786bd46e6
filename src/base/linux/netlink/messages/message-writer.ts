// Writes netlink messages one after another into one buffer that grows and is used again.
//
//   ┌─ nlmsghdr ───────────────────────────┬─ header of the family ─┬─ attribute ─────────────────┬─ ...
//   │ length u32, type u16, flags u16,     │ ifinfomsg, rtmsg, ...  │ length u16, type u16, value │ each padded to 4 bytes
//   │ sequence u32, port u32               │                        │ (a value may be attributes) │
//
// Numbers are in the machine's own byte order, but for what is named "network".

/** Netlink has the machine's byte order. */
export const isLittleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
const nested = 0x8000; // NLA_F_NESTED
const text = new TextEncoder();

export class MessageWriter {
  #bytes = new Uint8Array(4096);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;
  #messageAt = 0;

  get length(): number {
    return this.#length;
  }

  /** What was written; valid until the next write. */
  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  begin(type: number, messageFlags: number, sequence: number): void {
    this.#messageAt = this.#length;
    this.u32(0); // known at the end
    this.u16(type);
    this.u16(messageFlags);
    this.u32(sequence);
    this.u32(0); // the kernel knows our port
  }

  end(): void {
    this.#view.setUint32(this.#messageAt, this.#length - this.#messageAt, isLittleEndian);
    this.#pad();
  }

  /** Sets flags in the message that is being written or was written last. */
  addFlags(more: number): void {
    const at = this.#messageAt + 6;
    this.#view.setUint16(at, this.#view.getUint16(at, isLittleEndian) | more, isLittleEndian);
  }

  u8(value: number): void {
    this.#grow(1);
    this.#view.setUint8(this.#length, value);
    this.#length += 1;
  }

  u16(value: number): void {
    this.#grow(2);
    this.#view.setUint16(this.#length, value, isLittleEndian);
    this.#length += 2;
  }

  u32(value: number): void {
    this.#grow(4);
    this.#view.setUint32(this.#length, value, isLittleEndian);
    this.#length += 4;
  }

  raw(bytes: Uint8Array): void {
    this.#grow(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  attribute(type: number, value: Uint8Array): void {
    this.u16(value.length + 4);
    this.u16(type);
    this.raw(value);
    this.#pad();
  }

  attributeU8(type: number, value: number): void {
    this.u16(5);
    this.u16(type);
    this.u8(value);
    this.#pad();
  }

  attributeU16(type: number, value: number): void {
    this.u16(6);
    this.u16(type);
    this.u16(value);
    this.#pad();
  }

  attributeU16Network(type: number, value: number): void {
    this.attribute(type, new Uint8Array([value >> 8, value & 0xff]));
  }

  attributeU32(type: number, value: number): void {
    this.u16(8);
    this.u16(type);
    this.u32(value);
  }

  attributeText(type: number, value: string): void {
    this.attribute(type, text.encode(`${value}\0`));
  }

  /** An attribute whose value is what `write` writes. */
  nest(type: number, write: () => void): void {
    const at = this.#length;
    this.u16(0);
    this.u16(type | nested);
    write();
    this.#endNest(at);
  }

  /** As nest(), for those attributes whose nesting is older than the flag that tells of it. */
  nestWithoutFlag(type: number, write: () => void): void {
    const at = this.#length;
    this.u16(0);
    this.u16(type);
    write();
    this.#endNest(at);
  }

  /** Where the next byte goes: what is known later is put there by a patch. */
  mark(): number {
    return this.#length;
  }

  patchU8(at: number, value: number): void {
    this.#view.setUint8(at, value);
  }

  patchU16(at: number, value: number): void {
    this.#view.setUint16(at, value, isLittleEndian);
  }

  #endNest(at: number): void {
    const length = this.#length - at;
    if (length > 0xffff) throw new RangeError(`a netlink attribute of ${length} bytes: at most 65535 fit`);
    this.#view.setUint16(at, length, isLittleEndian);
    this.#pad();
  }

  #pad(): void {
    while (this.#length % 4 !== 0) this.u8(0);
  }

  #grow(by: number): void {
    if (this.#length + by <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + by));
    larger.set(this.#bytes);
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}
