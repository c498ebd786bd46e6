// The numbers of the framing format, shared by both directions.
//
//   chunk = type (1 byte) | body length (3 bytes, little-endian) | body
//   data chunk body = masked CRC-32C of the plain bytes (4 bytes, little-endian) | snappy block or the plain bytes
import { crc32c } from "@node-rs/crc32";

export const chunkType = { compressed: 0x00, plain: 0x01, firstSkippable: 0x80, identifier: 0xff } as const;

export const headerBytes = 4;
export const checksumBytes = 4;
/** The most plain bytes one chunk may stand for. */
export const maxContentBytes = 65_536;
/** What a block of maxContentBytes can grow to in the worst case, and its checksum: the longest body anyone may send. */
export const maxBodyBytes = 76_490 + checksumBytes;

export const identifierBody: readonly number[] = [0x73, 0x4e, 0x61, 0x50, 0x70, 0x59]; // "sNaPpY"

/**
 * Without a copy the codec's output is memory that V8 must free through a finalizer: on 64 KiB chunks that costs four
 * times what the copy does (docs/decisions/0003-snappy-and-crc.md).
 */
export const codecOptions = { asBuffer: true, copyOutputData: true } as const;

// The mask keeps a CRC of data that itself holds CRCs from degenerating.
export function maskedChecksum(plain: Uint8Array): number {
  const crc = crc32c(plain);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
