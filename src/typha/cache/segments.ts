// The snapshot's parts: live keys in the order of their paths, cut into segments; each segment's finished bytes are kept per
// variant, and only a segment in which something changed is made again. A client that connects after 10 of 100,000 keys
// changed costs the work of 10 segments (bench/fanout, scenario "reconnect").
//
//   [/a … /c][/d … /f][/g … /k]       one more than it may hold: [/d … /f] becomes [/d … /e][/e … /f]
//
// In order, because neighbours have much in common: snappy's bytes are a fifth fewer than of keys in no order, zstd's two
// fifths, and every client is sent them. Clients read a snapshot as a set and do not count on it.

import { type CacheCodec, compressionOf, dialectOf, type Piece, type Variant } from "./codec.ts";
import type { Entry, Frame, Segment } from "./entry.ts";
import { Scratch } from "./scratch.ts";
import { Stretches, type Wanted } from "./stretches.ts";

/** Small enough to be cheap to remake, large enough to compress. */
const mostKeys = 128;
/** A segment with fewer joins a neighbour, if both together are well below the most. */
const fewestKeys = 32;
const mostJoinedKeys = 96;
/** A message is closed at this size even if more keys would be allowed in it, to bound what a client must hold. */
export const messageBytes = 256 * 1024;

export class Segments {
  readonly #codec: CacheCodec;
  readonly #readPiece: (entry: Entry) => Uint8Array;
  readonly #maxMessageKvs: number;
  readonly #scratch = new Scratch();
  /** In the order of their keys; none is empty. */
  readonly #segments: Segment[] = [];
  readonly #stretches = new Map<Variant, Stretches>();
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
    const at = Math.max(0, this.#placeOf(entry.path) - 1);
    const segment = this.#segments[at] ?? this.#begin(at, []);
    const place = lowerBound(segment.members, entry.path);
    segment.members.splice(place, 0, entry);
    entry.segment = segment;
    if (entry.audience !== "both") segment.differing += 1;
    segment.frames.clear();
    if (segment.members.length <= mostKeys) return;
    // What comes in order fills one segment after the other, instead of leaving each half empty.
    const isAppended = at === this.#segments.length - 1 && place === segment.members.length - 1;
    const moved = segment.members.splice(isAppended ? place : mostKeys / 2);
    segment.differing -= differingAmong(moved);
    this.#begin(at + 1, moved);
  }

  remove(entry: Entry): void {
    const { segment } = entry;
    if (segment === undefined) return;
    this.#size -= 1;
    entry.segment = undefined;
    const at = this.#indexOf(segment, entry.path);
    segment.members.splice(segment.members.indexOf(entry), 1);
    if (entry.audience !== "both") segment.differing -= 1;
    segment.frames.clear();
    if (segment.members.length === 0) this.#segments.splice(at, 1);
    else if (segment.members.length < fewestKeys && !this.#join(at)) this.#join(at - 1);
  }

  /** The entry's bytes changed. */
  touch(entry: Entry): void {
    entry.segment?.frames.clear();
  }

  /** All live keys as bytes, with how many of the segments had to be made for it. */
  collect(variant: Variant): { parts: Uint8Array[]; rawBytes: number; remade: number } {
    let remade = 0;
    // Where a segment holds no policies, legacy clients are told the same bytes.
    const shared: Variant = `modern/${compressionOf(variant)}`;
    const wanted = this.#segments.map((segment) => ({ segment, variant: segment.differing === 0 ? shared : variant }));
    const stretches = this.#stretches.get(variant) ?? new Stretches(this.#codec.allocate);
    this.#stretches.set(variant, stretches);
    const make = ({ segment, variant: sayable }: Wanted, allocate: CacheCodec["allocate"]): Frame => {
      remade += 1;
      return this.#make(segment, sayable, allocate);
    };
    const parts = stretches.lay(wanted, make, shared === variant ? undefined : this.#stretches.get(shared));
    const rawBytes = wanted.reduce((sum, { segment, variant: of }) => sum + (segment.frames.get(of)?.rawBytes ?? 0), 0);
    return { parts, rawBytes, remade };
  }

  /** Lets go of bytes kept for variants that nobody uses any more. */
  drop(isUnused: (variant: Variant) => boolean): void {
    for (const variant of this.#stretches.keys()) if (isUnused(variant)) this.#stretches.delete(variant);
    for (const segment of this.#segments) {
      for (const variant of segment.frames.keys()) if (isUnused(variant)) segment.frames.delete(variant);
    }
  }

  #make(segment: Segment, variant: Variant, allocate: CacheCodec["allocate"]): Frame {
    const hidden = dialectOf(variant) === "legacy" ? "modern" : "legacy";
    const visible = segment.members.filter((entry) => entry.audience !== hidden);
    const pieces = visible.map((entry): Piece => ({ bytes: this.#readPiece(entry), type: 1 }));
    const options = { codec: this.#codec, maxMessageKvs: this.#maxMessageKvs, scratch: this.#scratch };
    const { bytes: plain } = messagesOf(pieces, options);
    return { bytes: this.#codec.compress(plain, compressionOf(variant), allocate), rawBytes: plain.length };
  }

  /** A new segment of these keys at this place. */
  #begin(at: number, members: Entry[]): Segment {
    const segment: Segment = { members, frames: new Map(), differing: differingAmong(members) };
    for (const entry of members) entry.segment = segment;
    this.#segments.splice(at, 0, segment);
    return segment;
  }

  /** The one at this place takes in the next. False: there is none, or they would be too many. */
  #join(at: number): boolean {
    const segment = this.#segments[at];
    const next = this.#segments[at + 1];
    if (segment === undefined || next === undefined) return false;
    if (segment.members.length + next.members.length > mostJoinedKeys) return false;
    for (const entry of next.members) entry.segment = segment;
    segment.members.push(...next.members);
    segment.differing += next.differing;
    segment.frames.clear();
    this.#segments.splice(at + 1, 1);
    return true;
  }

  /** How many segments begin with a path up to this one. */
  #placeOf(path: string): number {
    let low = 0;
    let high = this.#segments.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const first = this.#segments[middle]?.members[0];
      if (first !== undefined && first.path <= path) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Where the segment is that holds this path. Of two entries of one path the second may be a segment further on. */
  #indexOf(segment: Segment, path: string): number {
    let at = Math.max(0, this.#placeOf(path) - 1);
    while (at > 0 && this.#segments[at] !== segment) at -= 1;
    return at;
  }
}

function differingAmong(members: readonly Entry[]): number {
  return members.reduce((count, { audience }) => count + Number(audience !== "both"), 0);
}

/** How many of the members have a smaller path. */
function lowerBound(members: readonly Entry[], path: string): number {
  let low = 0;
  let high = members.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((members[middle]?.path ?? "") < path) low = middle + 1;
    else high = middle;
  }
  return low;
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
