// One client from accept to close: carries out what the protocol machine decides, sends the snapshot, then has streaming.ts
// keep the client up to date. What is known in a phase is part of it, and every change of phase is made by #step().
//
//   connecting ──▶ greeting ──▶ greeted ──▶ fetching ──▶ snapshot ──▶ acknowledging ──▶ streaming ──▶ closed
//      TLS          hello        (ack)      bytes from    being          (ack)          changes,
//                                           the source    written                       status, pings
import type { Duplex } from "node:stream";
import { type Clock, type Log, unreachable } from "../../../base/lib/index.ts";
import type { SyncerType } from "../../../calico/model/basics.ts";
import { compressionOf, type Position, type Snapshot, type Variant } from "../../cache/index.ts";
import { type ServerDecision, ServerMachine, type ServerStreams } from "../../wire/index.ts";
import type { Tally } from "../counting/tally.ts";
import type { FanoutLimits } from "../limits.ts";
import type { Broadcast } from "../publishing/broadcast.ts";
import { type ClientReport, cut } from "./client-report.ts";
import type { Flights } from "./flights.ts";
import { fromWireTime, type SharedFrames } from "./frames.ts";
import { LagWatch } from "./lag-watch.ts";
import { Outbox } from "./outbox.ts";
import { type SessionEnd, sessionEnds } from "./session-ends.ts";
import { type Service, Streaming } from "./streaming.ts";

/** What all sessions of a thread have in common. */
export type SessionContext = {
  readonly broadcasts: ReadonlyMap<SyncerType, Broadcast>;
  readonly limits: FanoutLimits;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly tally: Tally;
  readonly frames: SharedFrames;
  readonly flights: Flights;
  readonly now: () => number;
  readonly streams: ServerStreams;
  readonly preference: readonly ("zstd" | "snappy")[];
  readonly version: string;
  readonly worker: number;
  onGreeted(session: Session): void;
  onEnd(session: Session, why: SessionEnd): void;
};

/** The connection below TLS: known from accept on, and what ends it for certain. */
export type Transport = { readonly address: string; destroy(): void };

type Link = { readonly duplex: Duplex; readonly outbox: Outbox };

type Phase =
  | { readonly at: "connecting" }
  | { readonly at: "greeting"; readonly link: Link }
  | { readonly at: "greeted"; readonly link: Link; readonly service: Service }
  | { readonly at: "fetching"; readonly link: Link; readonly service: Service; readonly startMs: number }
  | ({ readonly at: "snapshot"; readonly snapshot: Snapshot } & Joined)
  | ({ readonly at: "acknowledging" } & Joined)
  | ({ readonly at: "streaming" } & Joined)
  | { readonly at: "closed"; readonly service: Service | undefined; readonly position: Position };

/** From the snapshot on the client's place in the broadcast is kept for it. */
type Joined = {
  readonly link: Link;
  readonly service: Service;
  readonly startMs: number;
  readonly streaming: Streaming;
};

type Event =
  | { readonly is: "attached"; readonly duplex: Duplex }
  | { readonly is: "decided"; readonly decision: ServerDecision }
  /** Undefined: the server is stopping. */
  | { readonly is: "fetched"; readonly snapshot: Snapshot | undefined; readonly closing: Uint8Array }
  | { readonly is: "written" }
  | { readonly is: "ended"; readonly why: SessionEnd };

type Decided<Do extends ServerDecision["do"]> = Extract<ServerDecision, { do: Do }>;

const written: Event = { is: "written" };
/** More than this is looked at before the turn ends: whoever floods is found out before it has filled the memory. */
const mostHeardBytes = 64 * 1024;

export class Session {
  readonly id: bigint;
  readonly #context: SessionContext;
  readonly #transport: Transport;
  readonly #machine: ServerMachine;
  readonly #connectedAtMs: number;
  #phase: Phase = { at: "connecting" };
  /** What came in this turn of the loop. */
  #heard: Uint8Array[] = [];
  #heardBytes = 0;

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
    const phase = this.#phase;
    if ("streaming" in phase) return phase.streaming.position;
    return phase.at === "closed" ? phase.position : 0;
  }

  get address(): string {
    return this.#transport.address;
  }

  get isServed(): boolean {
    return this.#service !== undefined;
  }

  get syncer(): SyncerType | undefined {
    return this.#service?.broadcast.syncer;
  }

  /** The connection is ready to carry messages: at once without TLS, after its handshake with it. */
  attach(duplex: Duplex): void {
    this.#step({ is: "attached", duplex });
  }

  end(why: SessionEnd): void {
    this.#step({ is: "ended", why });
  }

  /** Looks at every deadline; called a few times within the shortest of them. */
  tick(nowMs: number): void {
    const deadlineMs = this.#machine.deadlineMs;
    if (deadlineMs !== undefined && nowMs >= deadlineMs) this.#carryOut(this.#machine.tick(nowMs));
    const phase = this.#phase;
    if (!("link" in phase)) return;
    const stalledMs = phase.link.outbox.stalledMs(nowMs);
    if (stalledMs > this.#context.limits.writeTimeoutMs) this.end(sessionEnds.writeTimeout(stalledMs));
    else if (phase.at === "streaming") phase.streaming.tick(nowMs);
  }

  report(): ClientReport {
    const phase = this.#phase;
    const { position } = this;
    const { broadcast, hello, variant = "modern/none" } = this.#service ?? {};
    const outbox = "link" in phase ? phase.link.outbox : undefined;
    return {
      id: this.id,
      address: this.address,
      node: cut(hello?.hostname ?? ""),
      syncer: broadcast?.syncer,
      version: cut(hello?.version ?? ""),
      info: cut(hello?.info ?? ""),
      phase: shownPhases[phase.at],
      compression: compressionOf(variant),
      policyKeys: variant.startsWith("legacy") ? "legacy" : "modern",
      restartsDecoder: hello?.supportsDecoderRestart ?? false,
      connectedAtMs: this.#connectedAtMs,
      position,
      lagUpdates: broadcast === undefined ? 0 : Math.max(0, broadcast.flushed.position - position),
      lagMs: phase.at === "streaming" ? phase.service.broadcast.lagMs(position) : 0,
      bytesSent: outbox?.bytesSent ?? 0,
      queuedBytes: outbox?.queuedBytes ?? 0,
      pingMs: phase.at === "streaming" ? phase.streaming.pongDelayMs() : undefined,
      worker: this.#context.worker,
    };
  }

  get #service(): Service | undefined {
    return "service" in this.#phase ? this.#phase.service : undefined;
  }

  /** From one phase to the next. What comes too late for its phase changes nothing. */
  #step(event: Event): void {
    const phase = this.#phase;
    switch (event.is) {
      case "attached":
        if (phase.at === "connecting") this.#phase = { at: "greeting", link: this.#link(event.duplex) };
        else event.duplex.destroy();
        return;
      case "decided":
        this.#phase = this.#decide(phase, event.decision);
        return;
      case "fetched":
        if (event.snapshot === undefined) this.end(sessionEnds.shutdown);
        else if (phase.at === "fetching") this.#sendSnapshot(phase, event.snapshot, event.closing);
        else this.#service?.broadcast.source.release(event.snapshot);
        return;
      case "written":
        if (phase.at === "snapshot") this.#snapshotWritten(phase);
        return;
      case "ended":
        if (phase.at !== "closed") this.#close(phase, event.why);
        return;
      default:
        unreachable(event);
    }
  }

  #link(duplex: Duplex): Link {
    const owner = { onIdle: () => this.#step(written), onLatency: () => undefined };
    const outbox = new Outbox(duplex, owner, this.#context);
    duplex.on("data", (bytes: Uint8Array) => this.#hear(bytes, duplex));
    duplex.on("end", () => {
      this.#receive(duplex);
      this.#carryOut(this.#machine.end());
    });
    duplex.on("error", (error) => this.end(sessionEnds.socket(error)));
    duplex.on("close", () => this.end(sessionEnds.socket(undefined)));
    return { duplex, outbox };
  }

  // Go's client says its hello in four TLS records, and half of one cannot be read: what comes in one turn of the loop is
  // looked at once (docs/performance.md).
  #hear(bytes: Uint8Array, duplex: Duplex): void {
    if (this.#phase.at === "closed") return;
    if (this.#heard.length === 0) setImmediate(() => this.#receive(duplex));
    this.#heard.push(bytes);
    this.#heardBytes += bytes.length;
    if (this.#heardBytes >= mostHeardBytes) this.#receive(duplex);
  }

  #receive(duplex: Duplex): void {
    const [first, ...more] = this.#heard;
    if (first === undefined) return;
    this.#heard = [];
    this.#heardBytes = 0;
    if (this.#phase.at === "closed") return;
    const bytes = more.length === 0 ? first : Buffer.concat([first, ...more]);
    this.#carryOut(this.#machine.receive(bytes, this.#context.clock.monotonicMs()));
    // What a client says while it is being sent its snapshot is judged afterwards; meanwhile the kernel holds it back.
    if (!this.#machine.wantsInput) duplex.pause();
  }

  #carryOut(decisions: readonly ServerDecision[]): void {
    for (const decision of decisions) this.#step({ is: "decided", decision });
  }

  /** What the protocol machine wants, by the phase it can want it in. */
  #decide(phase: Phase, decision: ServerDecision): Phase {
    if (decision.do === "close") {
      if (phase.at !== "closed") this.end(decision.why);
      return this.#phase;
    }
    if (!("link" in phase)) return phase;
    switch (decision.do) {
      case "send":
        phase.link.outbox.send(decision.bytes);
        return phase;
      case "greeted":
        return this.#greet(phase.link, decision);
      case "startSnapshot":
        return phase.at === "greeted" ? this.#fetchSnapshot(phase, decision) : misplaced(phase, decision);
      case "startStreaming":
        return phase.at === "acknowledging" ? this.#startStreaming(phase, decision) : misplaced(phase, decision);
      case "pong":
        if (phase.at === "streaming") phase.streaming.notePong(fromWireTime(decision.pingTimestamp));
        return phase;
      default:
        return unreachable(decision);
    }
  }

  #greet(link: Link, { agreement, hello, remarks }: Decided<"greeted">): Phase {
    const { broadcasts, log, limits, tally } = this.#context;
    const broadcast = broadcasts.get(agreement.syncer);
    if (broadcast === undefined) throw new Error(`nothing is broadcast for syncer ${agreement.syncer}`);
    const { syncer } = broadcast;
    const variant: Variant = `${agreement.keys}/${agreement.compression}`;
    const fields = { client: this.address, connID: this.id, type: syncer };
    log.info("client hello received", { ...fields, node: cut(hello.hostname), version: cut(hello.version), variant });
    for (const remark of remarks) log.warn(remark, fields);
    const lag = new LagWatch({ syncer, limits, tally, log, fields });
    const writeLatency = tally.summary("typha_client_write_latency_secs", syncer);
    link.outbox.handTo({
      onIdle: () => this.#step(written),
      onLatency: (ms) => writeLatency.observe(ms / 1000),
    });
    // At once, because whoever hears of it asks for the syncer.
    this.#phase = { at: "greeted", link, service: { broadcast, variant, hello, lag, writeLatency } };
    this.#context.onGreeted(this);
    return this.#phase;
  }

  #fetchSnapshot({ link, service }: At<"greeted">, { opening, closing }: Decided<"startSnapshot">): Phase {
    link.outbox.send(opening);
    service.broadcast.source.snapshot(service.variant).then(
      (snapshot) => this.#step({ is: "fetched", snapshot, closing }),
      (error: unknown) => this.end(sessionEnds.failed(error)),
    );
    return { at: "fetching", link, service, startMs: this.#context.clock.monotonicMs() };
  }

  #sendSnapshot({ link, service, startMs }: At<"fetching">, snapshot: Snapshot, closing: Uint8Array): void {
    const { outbox } = link;
    const end = (why: SessionEnd) => this.end(why);
    const streaming = new Streaming({ ...this.#context, service, outbox, end }, snapshot.position);
    this.#phase = { at: "snapshot", link, service, startMs, streaming, snapshot };
    service.broadcast.join(streaming, service.variant);
    link.outbox.sendAll(snapshot.parts);
    link.outbox.send(closing);
    if (link.outbox.isIdle) this.#step(written); // an empty snapshot on a plain stream is no bytes at all
  }

  #snapshotWritten({ link, service, startMs, streaming, snapshot }: At<"snapshot">): void {
    this.#phase = { at: "acknowledging", link, service, startMs, streaming };
    service.broadcast.source.release(snapshot);
    this.#carryOut(this.#machine.snapshotWritten(this.#context.clock.monotonicMs()));
    if (this.#machine.wantsInput) link.duplex.resume();
  }

  #startStreaming(joined: At<"acknowledging">, { opening }: Decided<"startStreaming">): Phase {
    const { service, startMs, streaming } = joined;
    const { clock, tally } = this.#context;
    const nowMs = clock.monotonicMs();
    tally.observe("typha_client_snapshot_send_secs", service.broadcast.syncer, (nowMs - startMs) / 1000);
    this.#phase = { ...joined, at: "streaming" };
    streaming.start(opening, nowMs);
    return this.#phase;
  }

  #close(phase: Exclude<Phase, { at: "closed" }>, why: SessionEnd): void {
    const service = this.#service;
    this.#phase = { at: "closed", service, position: this.position };
    if ("link" in phase) phase.link.outbox.close();
    if (phase.at === "snapshot") phase.service.broadcast.source.release(phase.snapshot);
    if ("streaming" in phase) {
      phase.streaming.stop();
      phase.service.broadcast.leave(phase.streaming);
    }
    if ("link" in phase) phase.link.duplex.destroy();
    this.#transport.destroy();
    this.#context.onEnd(this, why);
  }
}

type At<Name extends Phase["at"]> = Extract<Phase, { at: Name }>;

/** What an operator sees of the phases. */
const shownPhases: { readonly [at in Phase["at"]]: ClientReport["phase"] } = {
  connecting: "hello",
  greeting: "hello",
  greeted: "acknowledging",
  fetching: "snapshot",
  snapshot: "snapshot",
  acknowledging: "acknowledging",
  streaming: "streaming",
  closed: "hello",
};

// The machine decides in the order of the phases.
function misplaced({ at }: Phase, decision: ServerDecision): never {
  throw new Error(`the protocol machine decided on ${decision.do} while the session is at ${at}`);
}
