// One syncer's data as the sessions of one thread see it: the flushes as they come, the last few again, and a source to
// ask for the rest. On the main thread the source is the publisher; on a worker thread it is a message away.

import type { Clock } from "../../../base/lib/index.ts";
import { type SyncerType, type SyncStatus, syncStatus } from "../../../calico/model/basics.ts";
import type { Position, Snapshot, Variant } from "../../cache/index.ts";
import type { FanoutMetrics } from "../counting/metrics.ts";
import { WriteLog } from "../counting/write-log.ts";
import { type Flush, RecentFlushes, type RecentRun } from "./flush.ts";
import { FlushTimes } from "./flush-times.ts";
import type { Pace } from "./pace.ts";
import type { CatchUp } from "./publisher.ts";

/** Undefined: the answer will not come, because the server is stopping. */
export type BroadcastSource = {
  snapshot(variant: Variant): Promise<Snapshot | undefined>;
  release(snapshot: Snapshot): void;
  changes(since: Position, variant: Variant): Promise<CatchUp | "forgotten" | undefined>;
};

export type Receiver = {
  readonly position: Position;
  /** What it is sent now of the last flushes; undefined: it lacks nothing, is busy, or takes another way. */
  takeTurn(): RecentRun | undefined;
};

/** Whose turn is next, which flush was the last when it began, and what it has cost. */
type Round = { readonly turns: Iterator<Receiver>; readonly sequence: number; costMs: number };

/** How many take their turns between two looks at the clock. */
const turnsPerLook = 16;

export class Broadcast {
  readonly syncer: SyncerType;
  readonly source: BroadcastSource;
  readonly #metrics: FanoutMetrics;
  readonly #clock: Clock;
  readonly #pace: Pace;
  /** What it took lately to write to all receivers once, smoothed. */
  #costMs = 0;
  /** Undefined: everybody has been sent what is published, or is busy. */
  #round: Round | undefined;
  readonly recent = new RecentFlushes();
  readonly #times = new FlushTimes();
  readonly writes = new WriteLog();
  readonly #receivers = new Map<Receiver, Variant>();
  readonly #uses = new Map<Variant, number>();
  #flushed: { sequence: number; position: Position; status: SyncStatus; atMs: number } = {
    sequence: 0,
    position: 0,
    status: syncStatus.waitForDatastore,
    atMs: 0,
  };

  constructor(
    syncer: SyncerType,
    source: BroadcastSource,
    thread: { readonly tally: FanoutMetrics; readonly clock: Clock; readonly pace: Pace },
  ) {
    this.syncer = syncer;
    this.source = source;
    this.#metrics = thread.tally;
    this.#clock = thread.clock;
    this.#pace = thread.pace;
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
    this.#flushed = { ...flushed, sequence: 0, atMs: 0 };
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
    this.#flushed = { sequence: flush.sequence, position: flush.to, status: flush.status, atMs: flush.atMs };
    // Noted before it is sent: a receiver that takes it in another way counts itself.
    if (flush.updates > 0) {
      const atMs = this.#clock.wallMs();
      this.writes.note({ from: flush.from, to: flush.to, firstAtMs: atMs, lastAtMs: atMs, clients: 0 });
    }
    if (this.#round === undefined) this.#takeTurns(this.#newRound());
  }

  #newRound(): Round {
    return { turns: this.#receivers.keys(), sequence: this.#flushed.sequence, costMs: 0 };
  }

  // Until everybody has had what is published, or the thread has written enough for now.
  #takeTurns(from: Round): void {
    const startMs = this.#clock.monotonicMs();
    const startWallMs = this.#clock.wallMs();
    const endMs = startMs + this.#pace.allowanceMs(startMs, this.#costMs);
    const takers = new Map<RecentRun, number>();
    let round: Round | undefined = from;
    let nowMs = startMs;
    while (round !== undefined && nowMs < endMs) {
      const isOver = nextTurns(round, takers);
      const lookedMs = this.#clock.monotonicMs();
      round.costMs += lookedMs - nowMs;
      nowMs = lookedMs;
      if (!isOver) continue;
      this.#costMs += (round.costMs - this.#costMs) / 8;
      round = round.sequence === this.#flushed.sequence ? undefined : this.#newRound();
    }
    this.#pace.spend(nowMs - startMs);
    for (const [run, clients] of takers) this.#count(run, clients, startWallMs);
    this.#round = round;
    if (round === undefined) return;
    const wakes = this.#clock.sleep(this.#pace.pauseMs(this.#costMs));
    void wakes.then(() => this.#takeTurns(round));
  }

  #count(run: RecentRun, clients: number, startMs: number): void {
    const lastAtMs = this.#clock.wallMs();
    this.writes.noteWritten({ from: run.from, to: run.to, firstAtMs: startMs, lastAtMs, clients });
    this.#metrics.observe("typha_client_latency_secs", this.syncer, this.lagMs(run.from) / 1000, clients);
    for (const updates of run.messages) this.#metrics.observe("typha_kvs_per_msg", this.syncer, updates, clients);
    this.#metrics.add("typha_breadcrumb_block", this.syncer, clients);
    if (run.flushes > 1) this.#metrics.add("typha_breadcrumb_non_block", this.syncer, clients * (run.flushes - 1));
  }
}

/** True: the round is over. */
function nextTurns({ turns }: Round, takers: Map<RecentRun, number>): boolean {
  for (let turn = 0; turn < turnsPerLook; turn += 1) {
    const { value: receiver, done } = turns.next();
    if (done === true) return true;
    const run = receiver.takeTurn();
    if (run !== undefined) takers.set(run, (takers.get(run) ?? 0) + 1);
  }
  return false;
}
