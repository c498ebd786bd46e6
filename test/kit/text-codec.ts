// A codec for caches under test whose bytes can be read: "path=value" and an end mark, no compression.
import type { CacheCodec } from "../../src/typha/cache/index.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function textCodec(endMark: string): CacheCodec {
  return {
    encode: ({ path, value }) => ({ bytes: encoder.encode(`${path}=${value ?? ""}${endMark}`), valueEnd: 0 }),
    message(pieces, allocate) {
      const text = encoder.encode(pieces.map(({ bytes }) => decoder.decode(bytes)).join(""));
      const memory = allocate(text.length);
      memory.set(text);
      return memory;
    },
    compress: (plain) => plain.slice(),
    allocate: (size) => new Uint8Array(size),
  };
}
