// What the cache knows of one key, and the segment of the snapshot that it is in.
import type { UpdateType } from "../../calico/model/basics.ts";
import type { Variant } from "./codec.ts";
import type { StoredPiece } from "./piece-store.ts";

/** The number of a change; 0 is before the first. */
export type Position = number;

/** Who may see an entry: policies are said under one path to modern clients and under another to legacy ones. */
export type Audience = "both" | "modern" | "legacy";

export type Entry = {
  readonly path: string;
  audience: Audience;
  piece: StoredPiece;
  valueEnd: number;
  /** As the syncer called the last change. */
  type: UpdateType;
  isLive: boolean;
  position: Position;
  previousPosition: Position;
  /** When the key last came into being. */
  bornAt: Position;
  /** While live. */
  segment: Segment | undefined;
  older: Entry | undefined;
  newer: Entry | undefined;
};

/** Live keys that follow each other (segments.ts). Each knows where it is. */
export type Segment = { readonly members: Entry[]; readonly frames: Map<Variant, Frame>; differing: number };
/** A segment as it is sent; its bytes lie in a stretch (stretches.ts). */
export type Frame = { bytes: Uint8Array; readonly rawBytes: number };
