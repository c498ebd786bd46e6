// Plugs the wire's encoders into the cache: gob pieces, MsgKVs messages and compressed runs, in memory that every thread
// can read.
import { zstdCompressSync } from "node:zlib";
import { updateType } from "../../calico/model/basics.ts";
import type { CacheCodec, Piece } from "../cache/index.ts";
import { encodeUpdate, kvsMessage, type ServerStreams, serverStreams } from "../wire/index.ts";

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
    message: typedMessage,
    compress(plain, compression) {
      const stream = streams.get(compression);
      if (stream === undefined) throw new Error(`compression ${compression} is not offered`);
      return stream.pack(plain, allocateShared);
    },
  };
}

// A Buffer, because a socket would wrap anything else anew for every client.
function allocateShared(size: number): Uint8Array {
  return Buffer.from(new SharedArrayBuffer(size));
}

// Every piece was encoded with a type, so it ends in the type and the closing zero, and the message in two zeros.
function typedMessage(pieces: readonly Piece[], allocate: (size: number) => Uint8Array): Uint8Array {
  const message = kvsMessage(
    pieces.map(({ bytes }) => bytes),
    allocate,
  );
  let end = message.length - 2;
  for (let index = pieces.length - 1; index >= 0; index -= 1) {
    const piece = pieces[index];
    if (piece === undefined) continue;
    message[end - 2] = piece.type;
    end -= piece.bytes.length;
  }
  return message;
}

/** Key and value are a piece's first two fields; behind them are only revisions and the type. */
function valueEndOf(piece: Uint8Array): number {
  const keyEnd = skipText(piece, 1);
  return piece[keyEnd] === 1 ? skipText(piece, keyEnd + 1) : keyEnd;
}

function skipText(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return at + 1 + first;
  const size = 0x100 - first;
  let length = 0;
  for (let index = 1; index <= size; index += 1) length = length * 256 + (bytes[at + index] ?? 0);
  return at + 1 + size + length;
}
