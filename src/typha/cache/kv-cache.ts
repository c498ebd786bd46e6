// The current state of one syncer as bytes: what a new client is sent, and what changed since any position.
// Sits between the syncers, whose updates it is fed, and fanout/, which asks it for bytes. Knows no client: readers are
// positions. Everything here is synchronous, so a snapshot is of one moment.
import type { Clock } from "../../base/lib/index.ts";
import { type KvUpdate, type SyncStatus, syncStatus, type UpdateType, updateType } from "../../calico/model/basics.ts";
import { ChangeLog, type Seen } from "./change-log.ts";
import { type CacheCodec, compressionOf, dialectOf, type Piece, type Variant } from "./codec.ts";
import type { Audience, Entry, Position } from "./entry.ts";
import { KeyIndex, type KeyInfo } from "./key-index.ts";
import { type LegacyForm, LegacyNames, type Said } from "./legacy-names.ts";
import { PieceStore } from "./piece-store.ts";
import { Scratch } from "./scratch.ts";
import { messagesOf, Segments } from "./segments.ts";
import { type Snapshot, SnapshotShelf } from "./snapshot-shelf.ts";

export type CacheLimits = {
  /** Most keys in one message. */
  readonly maxMessageKvs: number;
  /** Most updates in one step of a catch-up, so that a long one merges what changes meanwhile. */
  readonly maxStepKvs: number;
  /** Deletions remembered for readers that have not seen them, unless there are more live keys than this. */
  readonly maxTombstones: number;
};

const defaultLimits: CacheLimits = { maxMessageKvs: 100, maxStepKvs: 1000, maxTombstones: 100_000 };

/** One step closes at this many bytes before compression. */
const stepBytes = 1024 * 1024;
/** Bytes of a variant that nobody asked for in this time are let go. */
const idleVariantMs = 60_000;

export type Changes = {
  readonly from: Position;
  readonly to: Position;
  readonly updates: number;
  /** Updates in each of its messages. */
  readonly messages: readonly number[];
  readonly bytes: Uint8Array;
};

/** Some of the changes after a position, not yet as bytes. */
export type Step = { readonly from: Position; readonly to: Position; readonly entries: readonly Entry[] };

export type Applied = { readonly received: number; readonly skipped: number; readonly recorded: number };

/** What those who only look may use. */
export type CacheReader = Pick<KvCache, "head" | "status" | "size" | "stats" | "keys" | "find" | "pieceOf">;

export class KvCache {
  readonly #codec: CacheCodec;
  readonly #clock: Clock;
  readonly #limits: CacheLimits;
  readonly #names: LegacyNames;
  readonly #entries = new Map<string, Entry>();
  readonly #log = new ChangeLog();
  readonly #store = new PieceStore();
  readonly #segments: Segments;
  readonly #scratch = new Scratch();
  readonly #shelf = new SnapshotShelf();
  /** Only there once somebody has looked. */
  #index: KeyIndex | undefined;
  #status: SyncStatus = syncStatus.waitForDatastore;
  #remadeSegments = 0;

  constructor(options: { codec: CacheCodec; clock: Clock; legacyForm: LegacyForm; limits?: Partial<CacheLimits> }) {
    this.#codec = options.codec;
    this.#clock = options.clock;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#names = new LegacyNames(options.legacyForm);
    const maxMessageKvs = Math.min(this.#limits.maxMessageKvs, 1000); // the protocol's limit for snapshots
    this.#segments = new Segments(options.codec, (entry) => this.#store.read(entry.piece), maxMessageKvs);
  }

  get head(): Position {
    return this.#log.head;
  }

  get status(): SyncStatus {
    return this.#status;
  }

  /** Keys that modern clients see. */
  get size(): number {
    return this.#modernSize;
  }
  #modernSize = 0;

  get stats() {
    return {
      segments: this.#segments.count,
      remadeSegments: this.#remadeSegments,
      tombstones: this.#log.tombstoneCount,
      pieceBytes: this.#store.liveBytes,
      heldBytes: this.#store.heldBytes,
    };
  }

  /** The live keys that modern clients see, in the order of their paths. Good until the next change. */
  keys(): readonly KeyInfo[] {
    this.#index ??= new KeyIndex();
    return this.#index.refresh(this.#log);
  }

  /** Also a key that is gone, as long as its deletion is remembered. */
  find(path: string): KeyInfo | undefined {
    return this.#entries.get(path);
  }

  pieceOf(key: KeyInfo): Uint8Array {
    return this.#store.read(key.piece);
  }

  /** The updates first, then the status: nobody can see it before them. */
  apply(batch: { readonly updates: readonly KvUpdate[]; readonly status?: SyncStatus }): Applied {
    let skipped = 0;
    const before = this.#log.head;
    for (const update of batch.updates) {
      const known = this.#entries.get(update.path);
      for (const said of this.#names.split(update, known?.audience === "both")) {
        if (!this.#record(said) && said.audience !== "legacy") skipped += 1;
      }
    }
    if (batch.status !== undefined) this.#status = batch.status;
    if (this.#store.isWasteful) this.#compact();
    return { received: batch.updates.length, skipped, recorded: this.#log.head - before };
  }

  /** All live keys as of now, or as of a moment ago if one made then is at hand. Give it back with release(). */
  snapshot(variant: Variant): { snapshot: Snapshot; isReused: boolean } {
    const nowMs = this.#clock.monotonicMs();
    const { head, horizon, deletions } = this.#log;
    const moment = { head, horizon, deletions, nowMs };
    const reused = this.#shelf.reuse(variant, moment, this.#mostTombstones / 2);
    if (reused !== undefined) return { snapshot: reused, isReused: true };
    const { parts, rawBytes, remade } = this.#segments.collect(variant);
    this.#remadeSegments += remade;
    const bytes = parts.reduce((total, part) => total + part.length, 0);
    const snapshot: Snapshot = { variant, position: this.head, keys: this.size, parts, bytes, rawBytes };
    this.#shelf.put(snapshot, moment);
    return { snapshot, isReused: false };
  }

  release(snapshot: Snapshot): void {
    this.#shelf.release(snapshot);
  }

  /**
   * What changed after the position, each key once and in the order of its last change, up to the limit of one step.
   * To be rendered at once: the next change may move its entries.
   * "forgotten": deletions after that position are no longer known, so only a new snapshot helps.
   */
  stepSince(since: Position): Step | "forgotten" {
    if (since < this.#log.horizon) return "forgotten";
    const entries: Entry[] = [];
    let bytes = 0;
    let entry = this.#log.after(since);
    for (; entry !== undefined; entry = entry.newer) {
      if (entries.length >= this.#limits.maxStepKvs || bytes >= stepBytes) break;
      entries.push(entry);
      bytes += entry.piece.end - entry.piece.start;
    }
    const last = entries.at(-1);
    if (entry !== undefined && last !== undefined) {
      this.#log.rememberPlace(last);
      return { from: since, to: last.position, entries };
    }
    return { from: since, to: Math.max(since, this.head), entries };
  }

  render(step: Step, variant: Variant): Changes {
    const hidden: Audience = dialectOf(variant) === "legacy" ? "modern" : "legacy";
    const visible = step.entries.filter((entry) => entry.audience !== hidden);
    const pieces = visible.map(
      (entry): Piece => ({ bytes: this.#store.read(entry.piece), type: typeSince(step.from, entry) }),
    );
    return { from: step.from, to: step.to, updates: pieces.length, ...this.#frame(pieces, variant) };
  }

  /** True when both dialects hear the same of the step. */
  isSameToAll(step: Step): boolean {
    return step.entries.every((entry) => entry.audience === "both");
  }

  changesSince(since: Position, variant: Variant): Changes | "forgotten" {
    const step = this.stepSince(since);
    return step === "forgotten" ? step : this.render(step, variant);
  }

  /** Called now and then. */
  tidy(seen: Seen, isUsed: (variant: Variant) => boolean): void {
    const nowMs = this.#clock.monotonicMs();
    this.#shelf.sweep(nowMs, idleVariantMs);
    this.#segments.drop((variant) => !isUsed(variant) && !this.#isOnShelf(variant));
    const byAll = Math.min(seen.byAll, this.#shelf.oldestPosition);
    for (const entry of this.#log.forget({ ...seen, byAll }, this.#mostTombstones)) {
      this.#store.remove(entry.piece);
      this.#entries.delete(entryKey(entry.path, entry.audience));
    }
  }

  get #mostTombstones(): number {
    return Math.max(this.#limits.maxTombstones, this.#segments.size);
  }

  // Legacy clients share the modern bytes of segments without policies.
  #isOnShelf(variant: Variant): boolean {
    return this.#shelf.has(variant) || this.#shelf.has(`legacy/${compressionOf(variant)}`);
  }

  #frame(pieces: readonly Piece[], variant: Variant): Pick<Changes, "messages" | "bytes"> {
    if (pieces.length === 0) return { messages: [], bytes: new Uint8Array(0) };
    const options = { codec: this.#codec, maxMessageKvs: this.#limits.maxMessageKvs, scratch: this.#scratch };
    const { bytes, sizes } = messagesOf(pieces, options);
    return { messages: sizes, bytes: this.#codec.compress(bytes, compressionOf(variant), this.#codec.allocate) };
  }

  /** False: it says nothing new, so nobody is told. */
  #record({ update, audience, isTakenBack }: Said): boolean {
    const key = entryKey(update.path, audience);
    const known = this.#entries.get(key);
    const isLive = update.value !== undefined;
    // Who was never told of a key need not be told that it is gone. (The original passes such deletions on.)
    if (!isLive && known?.isLive !== true && !isTakenBack) return false;
    const { bytes, valueEnd } = this.#codec.encode(update);
    if (known === undefined) {
      this.#insert(key, { update, audience, bytes, valueEnd });
      return true;
    }
    // Only an "updated" can be a repetition: a "new" says that the key was away in between, which clients may count.
    if (update.type === updateType.updated && known.isLive && isLive && this.#isSameValue(known, bytes, valueEnd)) {
      return false;
    }
    this.#replace(known, { update, audience, bytes, valueEnd });
    return true;
  }

  #insert(key: string, to: EntryContent): void {
    const entry: Entry = {
      path: to.update.path,
      audience: to.audience,
      piece: this.#store.add(to.bytes),
      valueEnd: to.valueEnd,
      type: to.update.type,
      isLive: to.update.value !== undefined,
      position: 0,
      previousPosition: 0,
      bornAt: this.#log.head + 1,
      segment: undefined,
      older: undefined,
      newer: undefined,
    };
    this.#entries.set(key, entry);
    if (entry.isLive) this.#segments.add(entry);
    if (entry.audience !== "legacy") this.#modernSize += 1;
    this.#log.touch(entry);
  }

  #replace(entry: Entry, to: EntryContent): void {
    const isLive = to.update.value !== undefined;
    const wasLive = entry.isLive;
    if (wasLive && !isLive) this.#index?.noteGone(entry);
    const isMoving = wasLive && (!isLive || entry.audience !== to.audience);
    if (isMoving) this.#segments.remove(entry);
    if (entry.audience !== "legacy") this.#modernSize += Number(isLive) - Number(wasLive);
    this.#store.remove(entry.piece);
    entry.piece = this.#store.add(to.bytes);
    entry.valueEnd = to.valueEnd;
    entry.type = to.update.type;
    entry.isLive = isLive;
    entry.audience = to.audience;
    if (isLive && !wasLive) entry.bornAt = this.#log.head + 1;
    if (isLive && (isMoving || !wasLive)) this.#segments.add(entry);
    else if (isLive) this.#segments.touch(entry);
    this.#log.touch(entry);
  }

  #isSameValue(entry: Entry, bytes: Uint8Array, valueEnd: number): boolean {
    if (entry.valueEnd !== valueEnd) return false;
    const known = this.#store.read(entry.piece);
    for (let index = 0; index < valueEnd; index += 1) if (known[index] !== bytes[index]) return false;
    return true;
  }

  #compact(): void {
    for (const entry of this.#entries.values()) {
      if (!this.#store.isSparse(entry.piece)) continue;
      const moved = this.#store.add(this.#store.read(entry.piece));
      this.#store.remove(entry.piece);
      entry.piece = moved;
    }
  }
}

type EntryContent = {
  readonly update: KvUpdate;
  readonly audience: Audience;
  readonly bytes: Uint8Array;
  readonly valueEnd: number;
};

// A path that both kinds of clients knew may become one that only modern ones know: to legacy clients it is then a
// deletion of its own, beside the entry of the same path.
function entryKey(path: string, audience: Audience): string {
  return audience === "legacy" ? `legacy ${path}` : path;
}

/** A reader that missed nothing hears the syncer's own word; to one for which changes merged, what they come to. */
function typeSince(since: Position, entry: Entry): UpdateType {
  if (!entry.isLive || entry.previousPosition <= since) return entry.type;
  return entry.bornAt > since ? updateType.new : updateType.updated;
}
