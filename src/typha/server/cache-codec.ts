// Plugs the wire's encoders into the cache: gob pieces, MsgKVs messages and compressed runs, in memory that every thread
// can read.
import { zstdCompressSync } from "node:zlib";
import { updateType } from "../../calico/model/basics.ts";
import type { CacheCodec } from "../cache/index.ts";
import { encodeUpdate, type ServerStreams, serverStreams, typedKvsMessage, valueEndOf } from "../wire/index.ts";

/** What is offered to clients; the same on every thread. */
export function offeredStreams(): ServerStreams {
  return serverStreams({ zstd: (plain) => zstdCompressSync(plain) });
}

export function createCodec(streams: ServerStreams): CacheCodec {
  return {
    encode(update) {
      const bytes = encodeUpdate(update.type === updateType.new ? update : { ...update, type: updateType.new });
      return { bytes, valueEnd: valueEndOf(bytes) };
    },
    message: typedKvsMessage,
    compress(plain, compression, allocate) {
      const stream = streams.get(compression);
      if (stream === undefined) throw new Error(`compression ${compression} is not offered`);
      return stream.pack(plain, allocate);
    },
    allocate: allocateShared,
  };
}

// A Buffer, because a socket would wrap anything else anew for every client.
function allocateShared(size: number): Uint8Array {
  return Buffer.from(new SharedArrayBuffer(size));
}
