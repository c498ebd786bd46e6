// Stands between one syncer's cache and the threads that serve clients: decides when what has changed is published, makes
// the bytes once per variant in use, and answers for snapshots and catch-ups.
//
// Adaptive batching: an idle server publishes at once; a busy one lets updates gather (gathering.ts).

import type { Clock } from "../../../base/lib/index.ts";
import { type KvUpdate, type SyncerType, type SyncStatus, syncStatus } from "../../../calico/model/basics.ts";
import type { CacheReader, KvCache, Position, Snapshot, Variant } from "../../cache/index.ts";
import type { FanoutMetrics } from "../counting/metrics.ts";
import type { Flush } from "./flush.ts";
import { Gathering } from "./gathering.ts";

export type CatchUp = {
  readonly to: Position;
  readonly updates: number;
  /** Updates in each of its messages. */
  readonly messages: readonly number[];
  readonly bytes: Uint8Array;
  /** The published one, which holds once everything published is reached; undefined where `to` is before that. */
  readonly status: SyncStatus | undefined;
};

export type FlushSink = {
  /** Which variants the clients behind this sink use now. */
  variantsInUse(syncer: SyncerType): Iterable<Variant>;
  /** The oldest position of any client behind this sink. */
  oldestPosition(syncer: SyncerType): Position;
  /** What it took lately to write one flush to all its clients. */
  flushCostMs(syncer: SyncerType): number;
  take(syncer: SyncerType, flush: Flush): void;
};

export class Publisher {
  readonly syncer: SyncerType;
  readonly #cache: KvCache;
  readonly #clock: Clock;
  readonly #metrics: FanoutMetrics;
  readonly #gathering: Gathering;
  readonly #sinks: ReadonlySet<FlushSink>;
  readonly #signal: AbortSignal;
  #flushed: { position: Position; status: SyncStatus } = { position: 0, status: syncStatus.waitForDatastore };
  #sequence = 0;
  #lastFlushMs = Number.NEGATIVE_INFINITY;
  #isWaiting = false;
  /** Merged catch-ups made since the last change and the last flush: clients that fell behind together share them. */
  readonly #catchUps = new Map<string, CatchUp>();

  constructor(options: {
    syncer: SyncerType;
    cache: KvCache;
    clock: Clock;
    metrics: FanoutMetrics;
    batchingAgeMs: number;
    /** Most updates in one message. */
    messageUpdates: number;
    sinks: ReadonlySet<FlushSink>;
    signal: AbortSignal;
  }) {
    this.syncer = options.syncer;
    this.#cache = options.cache;
    this.#clock = options.clock;
    this.#metrics = options.metrics;
    this.#gathering = new Gathering(options);
    this.#sinks = options.sinks;
    this.#signal = options.signal;
  }

  get flushed(): { readonly position: Position; readonly status: SyncStatus } {
    return this.#flushed;
  }

  /** For those who only look. */
  get reader(): CacheReader {
    return this.#cache;
  }

  get size(): number {
    return this.#cache.size;
  }

  apply(batch: { readonly updates: readonly KvUpdate[]; readonly status?: SyncStatus }): void {
    const { received, skipped, recorded } = this.#cache.apply(batch);
    if (received > 0) this.#metrics.add("typha_updates_total", this.syncer, received);
    if (skipped > 0) this.#metrics.add("typha_updates_skipped", this.syncer, skipped);
    if (recorded === 0 && this.#cache.status === this.#flushed.status) {
      if (received > 0) this.#metrics.observe("typha_breadcrumb_size", this.syncer, 0, 1);
      return;
    }
    this.#catchUps.clear();
    if (this.#isWaiting) return;
    let flushCostMs = 0;
    for (const sink of this.#sinks) flushCostMs = Math.max(flushCostMs, sink.flushCostMs(this.syncer));
    if (this.#gathering.isIdle(this.#clock.monotonicMs(), flushCostMs)) this.flush();
    else this.#flushIn(this.#gathering.gatherMs(flushCostMs));
  }

  flush(): void {
    this.#lastFlushMs = this.#clock.monotonicMs();
    this.#catchUps.clear(); // they say which status holds
    const variants = new Set<Variant>();
    for (const sink of this.#sinks) for (const variant of sink.variantsInUse(this.syncer)) variants.add(variant);
    let updates = 0;
    do {
      const flush = this.#nextFlush(variants);
      this.#flushed = { position: flush.to, status: flush.status };
      for (const sink of this.#sinks) sink.take(this.syncer, flush);
      updates += flush.updates;
    } while (this.#flushed.position < this.#cache.head);
    this.#gathering.notePublished(updates, this.#lastFlushMs);
    this.#metrics.set("typha_breadcrumb_seq_number", this.syncer, this.#sequence);
    this.#metrics.set("typha_cache_size", this.syncer, this.#cache.size);
  }

  snapshot(variant: Variant): Snapshot {
    const { snapshot, isReused } = this.#cache.snapshot(variant);
    this.#metrics.add(isReused ? "typha_snapshots_reused" : "typha_snapshots_generated", this.syncer, 1);
    if (!isReused) {
      this.#metrics.set("typha_snapshot_raw_bytes", this.syncer, snapshot.rawBytes);
      this.#metrics.set("typha_snapshot_compressed_bytes", this.syncer, snapshot.bytes);
    }
    return snapshot;
  }

  release(snapshot: Snapshot): void {
    this.#cache.release(snapshot);
  }

  changes(since: Position, variant: Variant): CatchUp | "forgotten" {
    const key = `${since} ${variant}`;
    const known = this.#catchUps.get(key);
    if (known !== undefined) return known;
    const changes = this.#cache.changesSince(since, variant);
    if (changes === "forgotten") return changes;
    // Never the cache's own status: until that is published, everybody else is told the one before it.
    const status = changes.to >= this.#flushed.position ? this.#flushed.status : undefined;
    const catchUp: CatchUp = { ...changes, status };
    if (this.#catchUps.size < 64) this.#catchUps.set(key, catchUp);
    return catchUp;
  }

  /** Called about once a second. */
  tidy(): void {
    let oldest = this.#flushed.position;
    const used = new Set<Variant>();
    for (const sink of this.#sinks) {
      oldest = Math.min(oldest, sink.oldestPosition(this.syncer));
      for (const variant of sink.variantsInUse(this.syncer)) used.add(variant);
    }
    this.#cache.tidy({ byAll: oldest, published: this.#flushed.position }, (variant) => used.has(variant));
    // The original counts a breadcrumb of nothing while idle, so that the summary decays.
    if (this.#clock.monotonicMs() - this.#lastFlushMs > 1000) {
      this.#metrics.observe("typha_breadcrumb_size", this.syncer, 0, 1);
    }
  }

  #flushIn(waitMs: number): void {
    this.#isWaiting = true;
    this.#clock.sleep(waitMs, this.#signal).then(
      () => {
        this.#isWaiting = false;
        this.flush();
      },
      () => undefined, // the server is stopping
    );
  }

  #nextFlush(variants: ReadonlySet<Variant>): Flush {
    const from = this.#flushed.position;
    const step = this.#cache.stepSince(from);
    // tidy() says what is published, and no tombstone beyond that goes.
    if (step === "forgotten") throw new Error(`the cache forgot changes after ${from} before they were published`);
    const bytes = new Map<Variant, Uint8Array>();
    let updates = step.entries.length;
    let messages: readonly number[] = [];
    const isSameToAll = this.#cache.isSameToAll(step);
    for (const variant of variants) {
      const modern = isSameToAll
        ? bytes.get(`modern/${variant.slice(variant.indexOf("/") + 1)}` as Variant)
        : undefined;
      if (modern !== undefined) {
        bytes.set(variant, modern);
        continue;
      }
      const changes = this.#cache.render(step, variant);
      ({ updates, messages } = changes);
      bytes.set(variant, changes.bytes);
    }
    this.#sequence += 1;
    this.#metrics.observe("typha_breadcrumb_size", this.syncer, updates, 1);
    const isAll = step.to >= this.#cache.head;
    const status = isAll ? this.#cache.status : this.#flushed.status;
    return { sequence: this.#sequence, from, to: step.to, updates, messages, status, atMs: this.#lastFlushMs, bytes };
  }
}
