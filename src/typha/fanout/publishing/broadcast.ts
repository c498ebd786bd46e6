// One syncer's data as the sessions of one thread see it: the flushes as they come, the last few again, and a source to
// ask for the rest. On the main thread the source is the publisher; on a worker thread it is a message away.

import type { Clock } from "../../../base/lib/index.ts";
import { type SyncerType, type SyncStatus, syncStatus } from "../../../calico/model/basics.ts";
import type { Position, Snapshot, Variant } from "../../cache/index.ts";
import type { FanoutMetrics } from "../counting/metrics.ts";
import { WriteLog } from "../counting/write-log.ts";
import { type Flush, RecentFlushes } from "./flush.ts";
import { FlushTimes } from "./flush-times.ts";
import type { CatchUp } from "./publisher.ts";

/** Undefined: the answer will not come, because the server is stopping. */
export type BroadcastSource = {
  snapshot(variant: Variant): Promise<Snapshot | undefined>;
  release(snapshot: Snapshot): void;
  changes(since: Position, variant: Variant): Promise<CatchUp | "forgotten" | undefined>;
};

export type Receiver = {
  readonly position: Position;
  /** A flush that has just been made. True: it is on its way as it is; false: the receiver is busy or takes another. */
  offer(flush: Flush): boolean;
};

export class Broadcast {
  readonly syncer: SyncerType;
  readonly source: BroadcastSource;
  readonly #metrics: FanoutMetrics;
  readonly #clock: Clock;
  /** What it took lately to write one flush to all receivers, smoothed. */
  #costMs = 0;
  readonly recent = new RecentFlushes();
  readonly #times = new FlushTimes();
  readonly writes = new WriteLog();
  readonly #receivers = new Map<Receiver, Variant>();
  readonly #uses = new Map<Variant, number>();
  #flushed: { position: Position; status: SyncStatus; atMs: number } = {
    position: 0,
    status: syncStatus.waitForDatastore,
    atMs: 0,
  };

  constructor(syncer: SyncerType, source: BroadcastSource, metrics: FanoutMetrics, clock: Clock) {
    this.syncer = syncer;
    this.source = source;
    this.#metrics = metrics;
    this.#clock = clock;
  }

  /** What the last flush reached. */
  get flushed(): { readonly position: Position; readonly status: SyncStatus; readonly atMs: number } {
    return this.#flushed;
  }

  /** The original's measure: how much older than the newest flush the first one is that the reader has not been sent. */
  lagMs(position: Position): number {
    if (position >= this.#flushed.position) return 0;
    const firstMs = this.#times.firstBeyondMs(position);
    return firstMs === undefined ? 0 : Math.max(0, this.#flushed.atMs - firstMs);
  }

  get costMs(): number {
    return this.#costMs;
  }

  /** A thread that starts late begins where the publisher is. */
  startAt(flushed: { position: Position; status: SyncStatus }): void {
    this.#flushed = { ...flushed, atMs: 0 };
  }

  join(receiver: Receiver, variant: Variant): void {
    this.#receivers.set(receiver, variant);
    this.#uses.set(variant, (this.#uses.get(variant) ?? 0) + 1);
  }

  leave(receiver: Receiver): void {
    const variant = this.#receivers.get(receiver);
    if (variant === undefined) return;
    this.#receivers.delete(receiver);
    const left = (this.#uses.get(variant) ?? 1) - 1;
    if (left === 0) this.#uses.delete(variant);
    else this.#uses.set(variant, left);
  }

  get variantsInUse(): Iterable<Variant> {
    return this.#uses.keys();
  }

  get oldestPosition(): Position {
    let oldest = Number.POSITIVE_INFINITY;
    for (const receiver of this.#receivers.keys()) oldest = Math.min(oldest, receiver.position);
    return oldest;
  }

  take(flush: Flush): void {
    this.recent.add(flush);
    this.#times.note(flush.to, flush.atMs);
    this.#flushed = { position: flush.to, status: flush.status, atMs: flush.atMs };
    // Noted before it is offered: a receiver that takes it in another way counts itself.
    if (flush.updates > 0) {
      const atMs = this.#clock.wallMs();
      this.writes.note({ from: flush.from, to: flush.to, firstAtMs: atMs, lastAtMs: atMs, clients: 0 });
    }
    const startMs = this.#clock.monotonicMs();
    let taken = 0;
    for (const receiver of this.#receivers.keys()) if (receiver.offer(flush)) taken += 1;
    this.#costMs += (this.#clock.monotonicMs() - startMs - this.#costMs) / 8;
    if (flush.updates > 0) this.writes.noteTaken(taken, this.#clock.wallMs());
    if (taken === 0) return;
    this.#metrics.observe("typha_client_latency_secs", this.syncer, 0, taken);
    for (const updates of flush.messages) this.#metrics.observe("typha_kvs_per_msg", this.syncer, updates, taken);
    this.#metrics.add("typha_breadcrumb_block", this.syncer, taken);
  }
}
