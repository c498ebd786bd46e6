// From the connection's bytes to the plain gob stream, one piece at a time: a stream can end inside what was fed, and what
// is behind its end belongs to the next.
import { SnappyDecoder, SnappyError } from "../../base/snappy/index.ts";
import type { Compression } from "./messages.ts";
import { type CloseReason, closeReason } from "./wire-error.ts";
import { ZstdSplitter } from "./zstd-splitter.ts";

/** One whole zstd frame to plain bytes, or an error when that would be more than `maxBytes`. Handed in, as in streams.ts. */
export type ZstdDecompress = (frame: Uint8Array, maxBytes: number) => Uint8Array;

type Inflated =
  | { readonly is: "bytes"; readonly bytes: Uint8Array }
  | { readonly is: "needMore" }
  | { readonly is: "error"; readonly why: CloseReason };

export type Inflater = {
  readonly compression: Compression;
  /** Only after next() has said needMore. Once it says so again, the bytes' memory may be used for something else. */
  feed(bytes: Uint8Array): void;
  /** The bytes it answers are valid until the next call. */
  next(): Inflated;
  /** What was fed and not yet inflated. */
  rest(): Uint8Array;
};

const nothing = new Uint8Array(0);
const needMore: Inflated = { is: "needMore" };

/** By the name on the wire, where "" is none; undefined for one that is not known here. */
export function makeInflater(algorithm: string, zstdDecompress?: ZstdDecompress): Inflater | undefined;
export function makeInflater(algorithm: "none"): Inflater;
export function makeInflater(algorithm: string, zstdDecompress?: ZstdDecompress): Inflater | undefined {
  if (algorithm === "" || algorithm === "none") return plain();
  if (algorithm === "snappy") return snappy();
  if (algorithm === "zstd" && zstdDecompress !== undefined) return zstd(zstdDecompress);
  return undefined;
}

function plain(): Inflater {
  let fed: Uint8Array = nothing;
  return {
    compression: "none",
    feed: (bytes) => {
      fed = bytes;
    },
    next: () => {
      if (fed.length === 0) return needMore;
      const bytes = fed;
      fed = nothing;
      return { is: "bytes", bytes };
    },
    rest: () => fed,
  };
}

function snappy(): Inflater {
  const decoder = new SnappyDecoder();
  return {
    compression: "snappy",
    feed: (bytes) => decoder.feed(bytes),
    next: () => {
      try {
        const bytes = decoder.next();
        return bytes === undefined ? needMore : { is: "bytes", bytes };
      } catch (error) {
        if (!(error instanceof SnappyError)) throw error;
        return { is: "error", why: closeReason("WIRE_BAD_BYTES", `${error.code}: ${error.message}`) };
      }
    },
    rest: () => decoder.rest(),
  };
}

const maxZstdBytes = 64 * 1024 * 1024;

function zstd(decompress: ZstdDecompress): Inflater {
  const splitter = new ZstdSplitter(maxZstdBytes);
  return {
    compression: "zstd",
    feed: (bytes) => splitter.feed(bytes),
    next: () => {
      try {
        const frame = splitter.next();
        return frame === undefined ? needMore : { is: "bytes", bytes: decompress(frame, maxZstdBytes) };
      } catch (error) {
        // The decompressor is the caller's; whatever it throws, the bytes were the server's.
        const problem = error instanceof Error ? error.message : String(error);
        return { is: "error", why: closeReason("WIRE_BAD_BYTES", `zstd: ${problem}`) };
      }
    },
    rest: () => splitter.rest(),
  };
}
