// How gob messages become the bytes of a connection, per compression. Every packed run stands by itself, so runs can be
// made once, kept, shared between clients and written one after the other.
import { compressChunks, streamIdentifier } from "../../base/snappy/index.ts";
import { frame, serverPreamble } from "./frame.ts";
import { join } from "./join.ts";
import type { Compression } from "./messages.ts";

type Allocate = (size: number) => Uint8Array;

export type ServerStream = {
  readonly compression: Compression;
  /** The first bytes of a stream: its identifier where it has one, and every type definition. */
  readonly opening: Uint8Array;
  /** Ends a snapshot; empty where snapshots have no end of their own because nothing is restarted. */
  readonly snapshotClosing: Uint8Array;
  /** Whole gob messages to bytes for the socket; with `allocate` in memory from there, else perhaps the messages. */
  pack(messages: Uint8Array, allocate?: Allocate): Uint8Array;
};

/** Makes one self-contained zstd frame. Handed in, because this folder uses nothing of Node's. */
type ZstdCompress = (plain: Uint8Array) => Uint8Array;

export const plainStream: ServerStream = {
  compression: "none",
  opening: serverPreamble,
  snapshotClosing: new Uint8Array(0),
  pack: copied,
};

export const snappyStream: ServerStream = compressedStream("snappy", streamIdentifier, compressChunks);

export function zstdStream(compress: ZstdCompress): ServerStream {
  return compressedStream("zstd", new Uint8Array(0), (plain, allocate) => copied(compress(plain), allocate));
}

/** The streams a server offers, by compression; without a zstd compressor that one is not offered. */
export type ServerStreams = ReadonlyMap<Compression, ServerStream>;

export function serverStreams(options: { zstd?: ZstdCompress } = {}): ServerStreams {
  const streams = [plainStream, snappyStream];
  if (options.zstd !== undefined) streams.push(zstdStream(options.zstd));
  return new Map(streams.map((stream) => [stream.compression, stream]));
}

function compressedStream(
  compression: Exclude<Compression, "none">,
  head: Uint8Array,
  pack: (plain: Uint8Array, allocate?: Allocate) => Uint8Array,
): ServerStream {
  // Go's client drops what is left of a chunk behind this message, so it is packed by itself.
  const restart = frame({
    is: "decoderRestart",
    message: "End of compressed snapshot.",
    compressionAlgorithm: compression,
  });
  return { compression, opening: join(head, pack(serverPreamble)), snapshotClosing: pack(restart), pack };
}

function copied(bytes: Uint8Array, allocate?: Allocate): Uint8Array {
  if (allocate === undefined) return bytes;
  const copy = allocate(bytes.length);
  copy.set(bytes);
  return copy;
}
