// Gob's unsigned integers, for the messages that are put together from ready-made pieces: below 128 one byte, else the
// negated number of bytes and then those, highest first. Lengths only, so 32 bits are plenty.
// gob/ has such functions inside, but its door is a public API in which they have no place.

export function uintSize(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x100) return 2;
  if (value < 0x10000) return 3;
  return value < 0x1000000 ? 4 : 5;
}

/** Writes at `at` and answers where the next byte goes. */
export function writeUint(bytes: Uint8Array, at: number, value: number): number {
  const size = uintSize(value);
  if (size === 1) {
    bytes[at] = value;
    return at + 1;
  }
  bytes[at] = 0x101 - size;
  for (let index = 1; index < size; index += 1) bytes[at + index] = value >>> (8 * (size - 1 - index));
  return at + size;
}

/** The integer at `at`. Only for bytes of our own making: whatever comes from a peer is read by gob/, which has limits. */
export function readUint(bytes: Uint8Array, at: number): number {
  const size = readUintSize(bytes, at) - 1;
  if (size === 0) return bytes[at] ?? 0;
  let value = 0;
  for (let index = 1; index <= size; index += 1) value = value * 256 + (bytes[at + index] ?? 0);
  return value;
}

/** How many bytes the integer at `at` takes. */
export function readUintSize(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  return first < 0x80 ? 1 : 0x101 - first;
}
