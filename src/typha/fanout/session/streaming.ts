// Keeps one client up to date after its snapshot. A client that keeps up is written the shared flush as it is; one that is
// late takes a recent flush again or, later still, everything since its position merged. Memory per client is one chunk in
// flight.
import type { Clock } from "../../../base/lib/index.ts";
import { type SyncStatus, syncStatus } from "../../../calico/model/basics.ts";
import { compressionOf, type Position, type Variant } from "../../cache/index.ts";
import type { ClientHello } from "../../wire/index.ts";
import type { Summary, Tally } from "../counting/tally.ts";
import type { FanoutLimits } from "../limits.ts";
import type { Broadcast, Receiver } from "../publishing/broadcast.ts";
import type { RecentRun } from "../publishing/flush.ts";
import type { CatchUp } from "../publishing/publisher.ts";
import type { SharedFrames } from "./frames.ts";
import type { LagWatch } from "./lag-watch.ts";
import type { Outbox, OutboxOwner } from "./outbox.ts";
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

type Reached = Pick<CatchUp, "to" | "messages" | "status">;

// One class of receivers, and its own fields rather than its options': it is asked once for each client and flush
// (bench/fanout).
export class Streaming implements Receiver, OutboxOwner {
  readonly #options: StreamingOptions;
  readonly #outbox: Outbox;
  readonly #broadcast: Broadcast;
  readonly #variant: Variant;
  /** "waiting": the snapshot and what follows it are under way; its place in the change log is kept. */
  #doing: "waiting" | "following" | "asking" | "stopped" = "waiting";
  #position: Position;
  #status: SyncStatus = syncStatus.waitForDatastore;
  #nextPingMs = Number.POSITIVE_INFINITY;
  #owesPing = false;
  /** How long the last pong took. */
  #pingMs: number | undefined;
  #unansweredSinceMs: number | undefined;

  constructor(options: StreamingOptions, position: Position) {
    this.#options = options;
    this.#outbox = options.outbox;
    this.#broadcast = options.service.broadcast;
    this.#variant = options.service.variant;
    this.#position = position;
  }

  /** Everything up to here was handed to the connection. */
  get position(): Position {
    return this.#position;
  }

  /** The client has its snapshot. */
  start(opening: Uint8Array, nowMs: number): void {
    const { flushed } = this.#broadcast;
    this.#doing = "following";
    this.#outbox.handTo(this);
    this.#options.service.lag.start(nowMs);
    this.#scheduleNextPing(nowMs);
    this.#outbox.send(opening);
    // The first status goes out with the opening: an old client counts its read timeout from here.
    if (this.#position >= flushed.position) this.#sendStatus(flushed.status);
    else if (opening.length === 0) this.#catchUp();
  }

  /** The session is closed: answers that are under way come to nobody. */
  stop(): void {
    this.#doing = "stopped";
  }

  takeTurn(): RecentRun | undefined {
    if (this.#doing === "waiting") return undefined;
    const { flushed, recent } = this.#broadcast;
    if (this.#position >= flushed.position) {
      this.#sendStatus(flushed.status);
      return undefined;
    }
    if (this.#doing !== "following" || !this.#outbox.isIdle) return undefined;
    const run = recent.after(this.#position, this.#variant);
    if (run === undefined) {
      this.#ask();
      return undefined;
    }
    this.#send(run.parts, run);
    return run;
  }

  /** Everything that was sent is with the kernel. */
  onIdle(): void {
    if (this.#doing === "stopped") return;
    if (this.#owesPing) this.#sendPing();
    else this.#catchUp();
  }

  onLatency(ms: number): void {
    this.#options.service.writeLatency.observe(ms / 1000);
  }

  tick(nowMs: number): void {
    if (nowMs < this.#nextPingMs) return;
    this.#scheduleNextPing(nowMs);
    // At most one ping waits behind what a slow client has not taken.
    if (this.#outbox.isIdle && this.#doing === "following") this.#sendPing();
    else this.#owesPing = true;
  }

  notePong(sentMs: number): void {
    const { clock, tally } = this.#options;
    this.#pingMs = Math.max(0, clock.wallMs() - sentMs);
    this.#unansweredSinceMs = undefined;
    tally.observe("typha_ping_latency", this.#broadcast.syncer, this.#pingMs / 1000);
  }

  // A pong comes after everything sent before its ping has been read, so one that is late says how old the client's view is.
  pongDelayMs(): number | undefined {
    if (this.#unansweredSinceMs === undefined) return this.#pingMs;
    return Math.max(this.#pingMs ?? 0, Math.round(this.#options.clock.monotonicMs() - this.#unansweredSinceMs));
  }

  #catchUp(): void {
    const broadcast = this.#broadcast;
    while (this.#outbox.isIdle && this.#doing === "following") {
      if (this.#position >= broadcast.flushed.position) {
        this.#options.service.lag.noteCaughtUp(this.#options.clock.monotonicMs());
        this.#sendStatus(broadcast.flushed.status);
        return;
      }
      const recent = broadcast.recent.after(this.#position, this.#variant);
      if (recent === undefined) {
        this.#ask();
        return;
      }
      this.#options.tally.add("typha_breadcrumb_non_block", broadcast.syncer, recent.flushes);
      this.#deliver(recent.parts, recent);
    }
  }

  #ask(): void {
    const { clock, end } = this.#options;
    const askedMs = clock.monotonicMs();
    this.#doing = "asking";
    this.#broadcast.source.changes(this.#position, this.#variant).then(
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
    const { clock, tally } = this.#options;
    const { syncer } = this.#broadcast;
    tally.add("typha_breadcrumb_non_block", syncer, 1);
    const merged = changes.to - this.#position - changes.updates;
    if (merged > 0) tally.add("cattail_merged_updates_total", syncer, merged);
    tally.observe("typha_next_breadcrumb_latency_secs", syncer, (clock.monotonicMs() - askedMs) / 1000);
    this.#deliver([changes.bytes], changes);
    this.#catchUp();
  }

  #deliver(parts: readonly Uint8Array[], reached: Reached): void {
    const { clock, tally, service } = this.#options;
    const broadcast = this.#broadcast;
    const from = this.#position;
    service.lag.observe(broadcast.lagMs(from), clock.monotonicMs());
    for (const updates of reached.messages) tally.observe("typha_kvs_per_msg", broadcast.syncer, updates);
    this.#send(parts, reached);
    const atMs = clock.wallMs();
    broadcast.writes.noteWritten({ from, to: reached.to, firstAtMs: atMs, lastAtMs: atMs, clients: 1 });
  }

  #send(parts: readonly Uint8Array[], { to, status }: Reached): void {
    const [first, ...more] = parts;
    if (first !== undefined && more.length === 0) this.#outbox.send(first);
    else this.#outbox.sendAll(parts);
    this.#position = to;
    if (status !== undefined) this.#sendStatus(status);
  }

  #sendStatus(status: SyncStatus): void {
    if (status === this.#status) return;
    this.#status = status;
    this.#outbox.send(this.#options.frames.status(status, compressionOf(this.#variant)));
  }

  #sendPing(): void {
    const { frames, clock } = this.#options;
    this.#owesPing = false;
    this.#unansweredSinceMs ??= clock.monotonicMs();
    this.#outbox.send(frames.ping(clock.wallMs(), compressionOf(this.#variant)));
  }

  #scheduleNextPing(nowMs: number): void {
    const { limits, random } = this.#options;
    this.#nextPingMs = nowMs + limits.pingIntervalMs * (1 + random() * 0.1);
  }
}
