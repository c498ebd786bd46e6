// What the cache is handed in order to make bytes: it decides when something is encoded and how long the bytes are kept,
// and knows neither gob nor any compressor. server/cache-codec.ts plugs wire/ in here.
import type { KvUpdate, UpdateType } from "../../calico/model/basics.ts";

export type Compression = "none" | "snappy" | "zstd";

/** Modern clients know policy keys by kind, legacy ones (up to v3.31) by tier; all other keys are the same to both. */
export type Dialect = "modern" | "legacy";

/** One way of saying the same data; bytes are made per variant, and only for variants that some client uses. */
export type Variant = `${Dialect}/${Compression}`;

/** One encoded update, whose type is said by the message that carries it. */
export type Piece = { readonly bytes: Uint8Array; readonly type: UpdateType };

export type CacheCodec = {
  /**
   * The bytes of one update, typed "new" (so that a snapshot takes them as they are). Two encodings of one key hold the
   * same value when they agree in their first `valueEnd` bytes: what follows are revisions.
   */
  encode(update: KvUpdate): { readonly bytes: Uint8Array; readonly valueEnd: number };
  /** One message with these updates, each with the type given beside it, in memory from `allocate`. */
  message(pieces: readonly Piece[], allocate: (size: number) => Uint8Array): Uint8Array;
  /** Bytes that may be concatenated with other results of the same compression, in memory from `allocate`. */
  compress(plain: Uint8Array, compression: Compression, allocate: (size: number) => Uint8Array): Uint8Array;
  /** Memory for what is sent; shared memory where other threads write it to sockets. */
  allocate(size: number): Uint8Array;
};

export function compressionOf(variant: Variant): Compression {
  return variant.slice(variant.indexOf("/") + 1) as Compression; // a Variant is a dialect, a slash and a compression
}

export function dialectOf(variant: Variant): Dialect {
  return variant.startsWith("legacy") ? "legacy" : "modern";
}
