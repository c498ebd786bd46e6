// The snapshot's parts: live keys hash into segments, each segment's finished bytes are kept per variant, and only a
// segment in which something changed is made again. A client that connects after 10 of 100,000 keys changed costs the
// work of 10 segments (bench/fanout, scenario "reconnect").
//
// Within a segment keys ascend; between segments they do not. Clients read a snapshot as a set.

import type { Entry } from "./change-log.ts";
import { type CacheCodec, compressionOf, dialectOf, type Piece, type Variant } from "./codec.ts";
import { Scratch } from "./scratch.ts";

/** Doubled when segments hold more than this on average: small enough to be cheap to remake, large enough to compress. */
const keysPerSegment = 128;
const mostSegments = 4096;
/** A message is closed at this size even if more keys would be allowed in it, to bound what a client must hold. */
export const messageBytes = 256 * 1024;

type Segment = { members: Entry[]; readonly frames: Map<Variant, Frame>; differing: number };
type Frame = { readonly bytes: Uint8Array; readonly rawBytes: number };

export class Segments {
  readonly #codec: CacheCodec;
  readonly #readPiece: (entry: Entry) => Uint8Array;
  readonly #maxMessageKvs: number;
  readonly #scratch = new Scratch();
  #segments: Segment[] = [emptySegment()];
  #size = 0;

  constructor(codec: CacheCodec, readPiece: (entry: Entry) => Uint8Array, maxMessageKvs: number) {
    this.#codec = codec;
    this.#readPiece = readPiece;
    this.#maxMessageKvs = maxMessageKvs;
  }

  get size(): number {
    return this.#size;
  }

  get count(): number {
    return this.#segments.length;
  }

  add(entry: Entry): void {
    this.#size += 1;
    if (this.#size > this.#segments.length * keysPerSegment && this.#segments.length < mostSegments) this.#grow();
    this.#put(entry);
  }

  remove(entry: Entry): void {
    this.#size -= 1;
    const segment = this.#segmentOf(entry);
    const last = segment.members.pop();
    if (last !== undefined && last !== entry) {
      segment.members[entry.slot] = last;
      last.slot = entry.slot;
    }
    if (entry.audience !== "both") segment.differing -= 1;
    segment.frames.clear();
  }

  /** The entry's bytes changed. */
  touch(entry: Entry): void {
    this.#segmentOf(entry).frames.clear();
  }

  /** All live keys as bytes, with how many of the segments had to be made for it. */
  collect(variant: Variant): { parts: Uint8Array[]; rawBytes: number; remade: number } {
    const parts: Uint8Array[] = [];
    let rawBytes = 0;
    let remade = 0;
    for (const segment of this.#segments) {
      if (segment.members.length === 0) continue;
      // Where a segment holds no policies, legacy clients are told the same bytes.
      const sayable: Variant = segment.differing === 0 ? `modern/${compressionOf(variant)}` : variant;
      let frame = segment.frames.get(sayable);
      if (frame === undefined) {
        frame = this.#make(segment, sayable);
        segment.frames.set(sayable, frame);
        remade += 1;
      }
      rawBytes += frame.rawBytes;
      if (frame.bytes.length > 0) parts.push(frame.bytes);
    }
    return { parts, rawBytes, remade };
  }

  /** Lets go of bytes kept for variants that nobody uses any more. */
  drop(isUnused: (variant: Variant) => boolean): void {
    for (const segment of this.#segments) {
      for (const variant of segment.frames.keys()) if (isUnused(variant)) segment.frames.delete(variant);
    }
  }

  #make(segment: Segment, variant: Variant): Frame {
    const hidden = dialectOf(variant) === "legacy" ? "modern" : "legacy";
    const visible = segment.members.filter((entry) => entry.audience !== hidden);
    visible.sort((a, b) => (a.path < b.path ? -1 : 1));
    const pieces = visible.map((entry): Piece => ({ bytes: this.#readPiece(entry), type: 1 }));
    const options = { codec: this.#codec, maxMessageKvs: this.#maxMessageKvs, scratch: this.#scratch };
    const { bytes: plain } = messagesOf(pieces, options);
    const rawBytes = plain.length;
    return {
      bytes: this.#codec.compress(plain, compressionOf(variant)),
      rawBytes,
    };
  }

  #put(entry: Entry): void {
    const segment = this.#segmentOf(entry);
    entry.slot = segment.members.length;
    segment.members.push(entry);
    if (entry.audience !== "both") segment.differing += 1;
    segment.frames.clear();
  }

  #segmentOf(entry: Entry): Segment {
    // The count is a power of two, so the mask always names a segment.
    return this.#segments[entry.hash & (this.#segments.length - 1)] as Segment;
  }

  #grow(): void {
    const old = this.#segments;
    this.#segments = Array.from({ length: old.length * 2 }, emptySegment);
    for (const segment of old) for (const entry of segment.members) this.#put(entry);
  }
}

function emptySegment(): Segment {
  return { members: [], frames: new Map(), differing: 0 };
}

/**
 * The pieces as consecutive messages within the limits on keys and bytes, and the keys in each. The bytes are good until
 * the scratch is used again.
 */
export function messagesOf(
  pieces: readonly Piece[],
  options: { codec: CacheCodec; maxMessageKvs: number; scratch: Scratch },
): { bytes: Uint8Array; sizes: number[] } {
  const { codec, maxMessageKvs, scratch } = options;
  const sizes: number[] = [];
  let start = 0;
  let bytes = 0;
  pieces.forEach((piece, index) => {
    if (index > start && (index - start >= maxMessageKvs || bytes + piece.bytes.length > messageBytes)) {
      codec.message(pieces.slice(start, index), scratch.allocate);
      sizes.push(index - start);
      start = index;
      bytes = 0;
    }
    bytes += piece.bytes.length;
  });
  if (start < pieces.length) {
    codec.message(pieces.slice(start), scratch.allocate);
    sizes.push(pieces.length - start);
  }
  return { bytes: scratch.take(), sizes };
}

/** FNV-1a: which segment a key belongs to need only be even, not secret; a flood of one segment costs its remaking. */
export function hashOf(path: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < path.length; index += 1) {
    hash ^= path.charCodeAt(index);
    hash = Math.imul(hash, 0x01000193);
  }
  // FNV's low bits are weak for keys that differ near their end, and the low bits are what the mask keeps.
  return (hash ^ (hash >>> 15)) >>> 0;
}
