// One client from accept to close: carries out what the protocol machine decides, sends the snapshot, then keeps the client
// up to date from its feed. A client that keeps up is written the shared flush as it is; one that is late takes a recent
// flush again or, later still, everything since its position merged. Memory per client is one chunk in flight.
//
//   connecting ──▶ greeting ──▶ (ack) ──▶ fetching ──▶ snapshot ──▶ (ack) ──▶ streaming ──▶ closed
//      TLS          hello                  bytes from    being                deltas,
//                                          the source    written              status, pings
import type { Duplex } from "node:stream";
import type { Clock, Log } from "../../../base/lib/index.ts";
import { type SyncerType, type SyncStatus, syncStatus } from "../../../calico/model/basics.ts";
import { compressionOf, type Position, type Snapshot, type Variant } from "../../cache/index.ts";
import { type ClientHello, type ServerDecision, ServerMachine, type ServerStreams } from "../../wire/index.ts";
import type { Summary, Tally } from "../counting/tally.ts";
import type { FanoutLimits } from "../limits.ts";
import type { Feed, Follower } from "../publishing/broadcast.ts";
import type { Flush } from "../publishing/flush.ts";
import type { CatchUp } from "../publishing/publisher.ts";
import { type ClientReport, cut } from "./client-report.ts";
import { ends, type SessionEnd } from "./close-reason.ts";
import { fromWireTime, type SharedFrames } from "./frames.ts";
import { LagWatch } from "./lag-watch.ts";
import { Outbox } from "./outbox.ts";

/** What all sessions of a thread have in common. */
export type SessionContext = {
  readonly feeds: ReadonlyMap<SyncerType, Feed>;
  readonly limits: FanoutLimits;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly tally: Tally;
  readonly frames: SharedFrames;
  readonly streams: ServerStreams;
  readonly preference: readonly ("zstd" | "snappy")[];
  readonly version: string;
  readonly worker: number;
  onGreeted(session: Session): void;
  onEnd(session: Session, why: SessionEnd): void;
};

/** The connection below TLS: known from accept on, and what ends it for certain. */
export type Transport = { readonly address: string; destroy(): void };

type Stage = "connecting" | "greeting" | "fetching" | "snapshot" | "acknowledging" | "streaming" | "closed";

type Service = {
  readonly feed: Feed;
  readonly variant: Variant;
  readonly hello: ClientHello;
  readonly lag: LagWatch;
  readonly writeLatency: Summary;
};

type Greeted = Extract<ServerDecision, { do: "greeted" }>;
type StartSnapshot = Extract<ServerDecision, { do: "startSnapshot" }>;

export class Session implements Follower {
  readonly id: bigint;
  readonly #context: SessionContext;
  readonly #transport: Transport;
  readonly #machine: ServerMachine;
  readonly #connectedAtMs: number;
  #stage: Stage = "connecting";
  #duplex: Duplex | undefined;
  #outbox: Outbox | undefined;
  #service: Service | undefined;
  #snapshot: Snapshot | undefined;
  #snapshotStartMs = 0;
  #position: Position = 0;
  #status: SyncStatus = syncStatus.waitForDatastore;
  #isAsking = false;
  #nextPingMs = Number.POSITIVE_INFINITY;
  #owesPing = false;
  #pingMs: number | undefined;
  #unansweredSinceMs: number | undefined;

  constructor(id: bigint, transport: Transport, context: SessionContext) {
    this.id = id;
    this.#transport = transport;
    this.#context = context;
    const { limits, clock, streams, preference, version } = context;
    this.#connectedAtMs = clock.wallMs();
    const options = {
      version,
      connectionId: id,
      streams,
      preference,
      handshakeTimeoutMs: limits.handshakeTimeoutMs,
      pongTimeoutMs: limits.pongTimeoutMs,
      maxMessageBytes: limits.maxInboundBytes,
    };
    this.#machine = new ServerMachine(options, clock.monotonicMs());
  }

  get position(): Position {
    return this.#position;
  }

  get address(): string {
    return this.#transport.address;
  }

  /** The connection is ready to carry messages: at once without TLS, after its handshake with it. */
  attach(duplex: Duplex): void {
    if (this.#stage !== "connecting") {
      duplex.destroy();
      return;
    }
    this.#stage = "greeting";
    this.#duplex = duplex;
    this.#outbox = new Outbox(duplex, {
      onIdle: () => this.#onIdle(),
      onLatency: (ms) => this.#service?.writeLatency.observe(ms / 1000),
      now: () => this.#context.clock.monotonicMs(),
    });
    duplex.on("data", (bytes: Uint8Array) => this.#receive(bytes));
    duplex.on("end", () => this.#carryOut(this.#machine.end()));
    duplex.on("error", (error) => this.end(ends.socket(error)));
    duplex.on("close", () => this.end(ends.socket(undefined)));
  }

  /** Looks at every deadline; called a few times within the shortest of them. */
  tick(nowMs: number): void {
    const deadlineMs = this.#machine.deadlineMs;
    if (deadlineMs !== undefined && nowMs >= deadlineMs) this.#carryOut(this.#machine.tick(nowMs));
    if (this.#stage === "closed") return;
    const stalledMs = this.#outbox?.stalledMs(nowMs) ?? 0;
    if (stalledMs > this.#context.limits.writeTimeoutMs) this.end(ends.writeTimeout(stalledMs));
    else if (nowMs >= this.#nextPingMs) this.#ping(nowMs);
  }

  offer(flush: Flush): boolean {
    if (this.#stage !== "streaming" || flush.to <= this.#position) {
      if (this.#stage === "streaming") this.#sendStatus(flush.status);
      return false;
    }
    if (this.#isAsking || this.#outbox?.isIdle !== true) return false;
    const { variant } = this.#service ?? unserved();
    const bytes = flush.from <= this.#position ? flush.bytes.get(variant) : undefined;
    if (bytes === undefined) {
      this.#catchUp();
      return false;
    }
    this.#outbox.send(bytes);
    this.#position = flush.to;
    if (flush.status !== this.#status) this.#sendStatus(flush.status);
    return true;
  }

  end(why: SessionEnd): void {
    if (this.#stage === "closed") return;
    this.#stage = "closed";
    this.#outbox?.clear();
    this.#releaseSnapshot();
    this.#service?.feed.leave(this);
    this.#duplex?.destroy();
    this.#transport.destroy();
    this.#context.onEnd(this, why);
  }

  get isServed(): boolean {
    return this.#service !== undefined;
  }

  get syncer(): SyncerType | undefined {
    return this.#service?.feed.syncer;
  }

  report(): ClientReport {
    const hello = this.#service?.hello;
    const feed = this.#service?.feed;
    const variant = this.#service?.variant ?? "modern/none";
    return {
      id: this.id,
      address: this.address,
      node: cut(hello?.hostname ?? ""),
      syncer: feed?.syncer,
      version: cut(hello?.version ?? ""),
      info: cut(hello?.info ?? ""),
      phase: phaseOf(this.#stage),
      compression: compressionOf(variant),
      policyKeys: variant.startsWith("legacy") ? "legacy" : "modern",
      restartsDecoder: hello?.supportsDecoderRestart ?? false,
      connectedAtMs: this.#connectedAtMs,
      position: this.#position,
      lagUpdates: feed === undefined ? 0 : Math.max(0, feed.flushed.position - this.#position),
      lagMs: this.#stage === "streaming" ? (feed?.lagMs(this.#position) ?? 0) : 0,
      bytesSent: this.#outbox?.bytesSent ?? 0,
      queuedBytes: this.#outbox?.queuedBytes ?? 0,
      pingMs: this.#pongDelayMs(),
      worker: this.#context.worker,
    };
  }

  #receive(bytes: Uint8Array): void {
    if (this.#stage === "closed") return;
    this.#carryOut(this.#machine.receive(bytes, this.#context.clock.monotonicMs()));
    // What a client says while it is being sent its snapshot is judged afterwards; meanwhile the kernel holds it back.
    if (!this.#machine.wantsInput) this.#duplex?.pause();
  }

  #carryOut(decisions: readonly ServerDecision[]): void {
    for (const decision of decisions) {
      if (this.#stage === "closed") return;
      if (decision.do === "send") this.#outbox?.send(decision.bytes);
      else if (decision.do === "greeted") this.#noteGreeted(decision);
      else if (decision.do === "startSnapshot") this.#fetchSnapshot(decision);
      else if (decision.do === "startStreaming") this.#startStreaming(decision.opening);
      else if (decision.do === "pong") this.#notePong(fromWireTime(decision.pingTimestamp));
      else this.end(decision.why);
    }
  }

  #noteGreeted({ agreement, hello, remarks }: Greeted): void {
    const { feeds, log, limits, tally } = this.#context;
    const feed = feeds.get(agreement.syncer);
    if (feed === undefined) throw new Error(`no feed for syncer ${agreement.syncer}`);
    const variant: Variant = `${agreement.keys}/${agreement.compression}`;
    const fields = { client: this.address, connID: this.id, type: feed.syncer };
    log.info("client hello received", { ...fields, node: cut(hello.hostname), version: cut(hello.version), variant });
    for (const remark of remarks) log.warn(remark, fields);
    const lag = new LagWatch({ syncer: feed.syncer, limits, tally, log, fields });
    const writeLatency = tally.summary("typha_client_write_latency_secs", feed.syncer);
    this.#service = { feed, variant, hello, lag, writeLatency };
    this.#stage = "acknowledging";
    this.#context.onGreeted(this);
  }

  #fetchSnapshot({ opening, closing }: StartSnapshot): void {
    const { feed, variant } = this.#service ?? unserved();
    this.#stage = "fetching";
    this.#snapshotStartMs = this.#context.clock.monotonicMs();
    this.#outbox?.send(opening);
    feed.source.snapshot(variant).then(
      (snapshot) => this.#sendSnapshot(snapshot, closing),
      (error: unknown) => this.end(ends.socket(error instanceof Error ? error : new Error(String(error)))),
    );
  }

  #sendSnapshot(snapshot: Snapshot | undefined, closing: Uint8Array): void {
    const service = this.#service;
    if (snapshot === undefined) {
      this.end(ends.shutdown);
      return;
    }
    if (service === undefined || this.#stage !== "fetching") {
      service?.feed.source.release(snapshot);
      return;
    }
    this.#stage = "snapshot";
    this.#snapshot = snapshot;
    this.#position = snapshot.position;
    service.feed.follow(this, service.variant);
    this.#outbox?.sendAll(snapshot.parts);
    this.#outbox?.send(closing);
    if (this.#outbox?.isIdle) this.#onIdle(); // an empty snapshot on a plain stream is no bytes at all
  }

  #onIdle(): void {
    if (this.#stage === "snapshot") {
      this.#stage = "acknowledging";
      this.#releaseSnapshot();
      this.#carryOut(this.#machine.snapshotWritten(this.#context.clock.monotonicMs()));
      if (this.#machine.wantsInput) this.#duplex?.resume();
    } else if (this.#stage === "streaming") {
      if (this.#owesPing) this.#sendPing();
      else this.#catchUp();
    }
  }

  #startStreaming(opening: Uint8Array): void {
    const { clock, tally } = this.#context;
    const { feed, lag } = this.#service ?? unserved();
    const nowMs = clock.monotonicMs();
    this.#stage = "streaming";
    tally.observe("typha_client_snapshot_send_secs", feed.syncer, (nowMs - this.#snapshotStartMs) / 1000);
    lag.start(nowMs);
    this.#scheduleNextPing(nowMs);
    this.#outbox?.send(opening);
    // The first status goes out with the opening: an old client counts its read timeout from here.
    if (this.#position >= feed.flushed.position) this.#sendStatus(feed.flushed.status);
    else if (opening.length === 0) this.#catchUp();
  }

  #catchUp(): void {
    const { feed, variant, lag } = this.#service ?? unserved();
    const { tally, clock } = this.#context;
    while (this.#outbox?.isIdle === true && !this.#isAsking) {
      if (this.#position >= feed.flushed.position) {
        lag.noteCaughtUp(clock.monotonicMs());
        this.#sendStatus(feed.flushed.status);
        return;
      }
      const recent = feed.recent.after(this.#position, variant);
      if (recent === undefined) {
        this.#ask(feed, variant);
        return;
      }
      tally.add("typha_breadcrumb_non_block", feed.syncer, 1);
      this.#deliver(recent.bytes, recent.flush);
    }
  }

  #ask(feed: Feed, variant: Variant): void {
    const { clock, tally } = this.#context;
    const askedMs = clock.monotonicMs();
    this.#isAsking = true;
    feed.source.changes(this.#position, variant).then(
      (changes) => {
        this.#isAsking = false;
        if (this.#stage !== "streaming") return;
        if (changes === undefined) return this.end(ends.shutdown);
        if (changes === "forgotten") return this.end(ends.fellBehind);
        tally.add("typha_breadcrumb_non_block", feed.syncer, 1);
        const merged = changes.to - this.#position - changes.updates;
        if (merged > 0) tally.add("cattail_merged_updates_total", feed.syncer, merged);
        tally.observe("typha_next_breadcrumb_latency_secs", feed.syncer, (clock.monotonicMs() - askedMs) / 1000);
        this.#deliver(changes.bytes, changes);
        this.#catchUp();
      },
      (error: unknown) => this.end(ends.socket(error instanceof Error ? error : new Error(String(error)))),
    );
  }

  #deliver(bytes: Uint8Array, reached: Pick<CatchUp, "to" | "messages" | "status">): void {
    const { feed, lag } = this.#service ?? unserved();
    const { clock, tally } = this.#context;
    lag.observe(feed.lagMs(this.#position), clock.monotonicMs());
    for (const updates of reached.messages) tally.observe("typha_kvs_per_msg", feed.syncer, updates);
    this.#outbox?.send(bytes);
    feed.writes.noteLate(this.#position, reached.to, clock.wallMs());
    this.#position = reached.to;
    if (reached.status !== undefined) this.#sendStatus(reached.status);
  }

  #sendStatus(status: SyncStatus): void {
    if (status === this.#status) return;
    this.#status = status;
    const { variant } = this.#service ?? unserved();
    this.#outbox?.send(this.#context.frames.status(status, compressionOf(variant)));
  }

  #ping(nowMs: number): void {
    this.#scheduleNextPing(nowMs);
    // At most one ping waits behind what a slow client has not taken.
    if (this.#outbox?.isIdle === true && !this.#isAsking) this.#sendPing();
    else this.#owesPing = true;
  }

  #sendPing(): void {
    this.#owesPing = false;
    this.#unansweredSinceMs ??= this.#context.clock.monotonicMs();
    const { variant } = this.#service ?? unserved();
    this.#outbox?.send(this.#context.frames.ping(this.#context.clock.wallMs(), compressionOf(variant)));
  }

  #scheduleNextPing(nowMs: number): void {
    const { limits, random } = this.#context;
    this.#nextPingMs = nowMs + limits.pingIntervalMs * (1 + random() * 0.1);
  }

  #notePong(sentMs: number): void {
    const { clock, tally } = this.#context;
    this.#pingMs = Math.max(0, clock.wallMs() - sentMs);
    this.#unansweredSinceMs = undefined;
    const { feed } = this.#service ?? unserved();
    tally.observe("typha_ping_latency", feed.syncer, this.#pingMs / 1000);
  }

  // A pong comes after everything sent before its ping has been read, so one that is late says how old the client's view is.
  #pongDelayMs(): number | undefined {
    if (this.#unansweredSinceMs === undefined) return this.#pingMs;
    return Math.max(this.#pingMs ?? 0, Math.round(this.#context.clock.monotonicMs() - this.#unansweredSinceMs));
  }

  #releaseSnapshot(): void {
    if (this.#snapshot !== undefined) this.#service?.feed.source.release(this.#snapshot);
    this.#snapshot = undefined;
  }
}

function phaseOf(stage: Stage): ClientReport["phase"] {
  if (stage === "streaming" || stage === "snapshot" || stage === "acknowledging") return stage;
  return stage === "fetching" ? "snapshot" : "hello";
}

// Whatever else the machine decides, it decides on "greeted" first, which sets the service.
function unserved(): never {
  throw new Error("a session is served before its hello");
}
