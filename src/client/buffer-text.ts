// Text by Buffer rather than TextDecoder: the same strings, without a view and an options object for each (bench/client).

/** One for each decoder: it keeps the Buffer that lies over the decoder's memory. */
export function bufferText(): (bytes: Uint8Array, start: number, end: number) => string {
  let bytesBefore: Uint8Array | undefined;
  let buffer: Buffer = Buffer.alloc(0);
  return (bytes, start, end) => {
    if (bytes !== bytesBefore) {
      bytesBefore = bytes;
      buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    }
    return buffer.toString("utf8", start, end);
  };
}
