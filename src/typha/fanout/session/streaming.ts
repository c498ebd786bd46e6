// Keeps one client up to date after its snapshot. A client that keeps up is written the shared flush as it is; one that is
// late takes a recent flush again or, later still, everything since its position merged. Memory per client is one chunk in
// flight.
import type { Clock } from "../../../base/lib/index.ts";
import { type SyncStatus, syncStatus } from "../../../calico/model/basics.ts";
import { compressionOf, type Position, type Variant } from "../../cache/index.ts";
import type { ClientHello } from "../../wire/index.ts";
import type { Summary, Tally } from "../counting/tally.ts";
import type { FanoutLimits } from "../limits.ts";
import type { Broadcast } from "../publishing/broadcast.ts";
import type { Flush } from "../publishing/flush.ts";
import type { CatchUp } from "../publishing/publisher.ts";
import type { SharedFrames } from "./frames.ts";
import type { LagWatch } from "./lag-watch.ts";
import type { Outbox } from "./outbox.ts";
import { type SessionEnd, sessionEnds } from "./session-ends.ts";

/** What a client has asked for in its hello, and who sees to it. */
export type Service = {
  readonly broadcast: Broadcast;
  readonly variant: Variant;
  readonly hello: ClientHello;
  readonly lag: LagWatch;
  readonly writeLatency: Summary;
};

export type StreamingOptions = {
  readonly service: Service;
  readonly outbox: Outbox;
  readonly limits: FanoutLimits;
  readonly clock: Clock;
  readonly random: () => number;
  readonly tally: Tally;
  readonly frames: SharedFrames;
  end(why: SessionEnd): void;
};

export class Streaming {
  readonly #options: StreamingOptions;
  #doing: "following" | "asking" | "stopped" = "following";
  #position: Position;
  #status: SyncStatus = syncStatus.waitForDatastore;
  #nextPingMs = Number.POSITIVE_INFINITY;
  #owesPing = false;
  /** How long the last pong took. */
  #pingMs: number | undefined;
  #unansweredSinceMs: number | undefined;

  constructor(options: StreamingOptions, position: Position) {
    this.#options = options;
    this.#position = position;
  }

  /** Everything up to here was handed to the connection. */
  get position(): Position {
    return this.#position;
  }

  start(opening: Uint8Array, nowMs: number): void {
    const { outbox, service } = this.#options;
    const { flushed } = service.broadcast;
    service.lag.start(nowMs);
    this.#scheduleNextPing(nowMs);
    outbox.send(opening);
    // The first status goes out with the opening: an old client counts its read timeout from here.
    if (this.#position >= flushed.position) this.#sendStatus(flushed.status);
    else if (opening.length === 0) this.#catchUp();
  }

  /** The session is closed: answers that are under way come to nobody. */
  stop(): void {
    this.#doing = "stopped";
  }

  /** True: the flush is on its way as it is. */
  offer(flush: Flush): boolean {
    if (flush.to <= this.#position) {
      this.#sendStatus(flush.status);
      return false;
    }
    const { outbox, service } = this.#options;
    if (this.#doing !== "following" || !outbox.isIdle) return false;
    const bytes = flush.from <= this.#position ? flush.bytes.get(service.variant) : undefined;
    if (bytes === undefined) {
      this.#catchUp();
      return false;
    }
    outbox.send(bytes);
    this.#position = flush.to;
    if (flush.status !== this.#status) this.#sendStatus(flush.status);
    return true;
  }

  /** Everything that was sent is with the kernel. */
  onIdle(): void {
    if (this.#owesPing) this.#sendPing();
    else this.#catchUp();
  }

  tick(nowMs: number): void {
    if (nowMs < this.#nextPingMs) return;
    this.#scheduleNextPing(nowMs);
    // At most one ping waits behind what a slow client has not taken.
    if (this.#options.outbox.isIdle && this.#doing === "following") this.#sendPing();
    else this.#owesPing = true;
  }

  notePong(sentMs: number): void {
    const { clock, tally, service } = this.#options;
    this.#pingMs = Math.max(0, clock.wallMs() - sentMs);
    this.#unansweredSinceMs = undefined;
    tally.observe("typha_ping_latency", service.broadcast.syncer, this.#pingMs / 1000);
  }

  // A pong comes after everything sent before its ping has been read, so one that is late says how old the client's view is.
  pongDelayMs(): number | undefined {
    if (this.#unansweredSinceMs === undefined) return this.#pingMs;
    return Math.max(this.#pingMs ?? 0, Math.round(this.#options.clock.monotonicMs() - this.#unansweredSinceMs));
  }

  #catchUp(): void {
    const { tally, clock, outbox, service } = this.#options;
    const { broadcast, variant, lag } = service;
    while (outbox.isIdle && this.#doing === "following") {
      if (this.#position >= broadcast.flushed.position) {
        lag.noteCaughtUp(clock.monotonicMs());
        this.#sendStatus(broadcast.flushed.status);
        return;
      }
      const recent = broadcast.recent.after(this.#position, variant);
      if (recent === undefined) {
        this.#ask();
        return;
      }
      tally.add("typha_breadcrumb_non_block", broadcast.syncer, 1);
      this.#deliver(recent.bytes, recent.flush);
    }
  }

  #ask(): void {
    const { clock, service, end } = this.#options;
    const askedMs = clock.monotonicMs();
    this.#doing = "asking";
    service.broadcast.source.changes(this.#position, service.variant).then(
      (changes) => {
        if (this.#doing !== "asking") return;
        this.#doing = "following";
        if (changes === undefined) end(sessionEnds.shutdown);
        else if (changes === "forgotten") end(sessionEnds.fellBehind);
        else this.#takeChanges(changes, askedMs);
      },
      (error: unknown) => end(sessionEnds.failed(error)),
    );
  }

  #takeChanges(changes: CatchUp, askedMs: number): void {
    const { clock, tally, service } = this.#options;
    const { syncer } = service.broadcast;
    tally.add("typha_breadcrumb_non_block", syncer, 1);
    const merged = changes.to - this.#position - changes.updates;
    if (merged > 0) tally.add("cattail_merged_updates_total", syncer, merged);
    tally.observe("typha_next_breadcrumb_latency_secs", syncer, (clock.monotonicMs() - askedMs) / 1000);
    this.#deliver(changes.bytes, changes);
    this.#catchUp();
  }

  #deliver(bytes: Uint8Array, reached: Pick<CatchUp, "to" | "messages" | "status">): void {
    const { clock, tally, outbox, service } = this.#options;
    const { broadcast, lag } = service;
    lag.observe(broadcast.lagMs(this.#position), clock.monotonicMs());
    for (const updates of reached.messages) tally.observe("typha_kvs_per_msg", broadcast.syncer, updates);
    outbox.send(bytes);
    broadcast.writes.noteLate(this.#position, reached.to, clock.wallMs());
    this.#position = reached.to;
    if (reached.status !== undefined) this.#sendStatus(reached.status);
  }

  #sendStatus(status: SyncStatus): void {
    if (status === this.#status) return;
    this.#status = status;
    const { outbox, frames, service } = this.#options;
    outbox.send(frames.status(status, compressionOf(service.variant)));
  }

  #sendPing(): void {
    const { outbox, frames, clock, service } = this.#options;
    this.#owesPing = false;
    this.#unansweredSinceMs ??= clock.monotonicMs();
    outbox.send(frames.ping(clock.wallMs(), compressionOf(service.variant)));
  }

  #scheduleNextPing(nowMs: number): void {
    const { limits, random } = this.#options;
    this.#nextPingMs = nowMs + limits.pingIntervalMs * (1 + random() * 0.1);
  }
}
