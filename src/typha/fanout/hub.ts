// All sessions of one thread: accepts, watches their deadlines, counts them, and drops those it is told to. The main
// thread has one, and so has each worker thread.
import type { Duplex } from "node:stream";
import type { SyncerType } from "../../calico/model/basics.ts";
import type { Position, Variant } from "../cache/index.ts";
import type { WriteRecord } from "./counting/write-log.ts";
import { tickIntervalMs } from "./limits.ts";
import { Broadcast, type BroadcastSource } from "./publishing/broadcast.ts";
import type { Flush } from "./publishing/flush.ts";
import { Pace } from "./publishing/pace.ts";
import type { FlushSink } from "./publishing/publisher.ts";
import type { ClientReport } from "./session/client-report.ts";
import { Flights } from "./session/flights.ts";
import { SharedFrames } from "./session/frames.ts";
import { Session, type SessionContext, type Transport } from "./session/session.ts";
import { type SessionEnd, sessionEnds } from "./session/session-ends.ts";

export type HubOptions = Omit<SessionContext, "broadcasts" | "frames" | "flights" | "now" | "onGreeted" | "onEnd"> & {
  readonly sources: ReadonlyMap<SyncerType, BroadcastSource>;
};

export class Hub implements FlushSink {
  readonly broadcasts: ReadonlyMap<SyncerType, Broadcast>;
  readonly #context: SessionContext;
  readonly #sessions = new Map<bigint, Session>();
  /** Oldest first: a Set keeps the order of accept. */
  readonly #handshaking = new Set<Session>();
  readonly #idBase: bigint;
  #accepted = 0n;

  constructor(options: HubOptions) {
    const { sources, tally, streams, random, clock } = options;
    const thread = { tally, clock, pace: new Pace() };
    this.broadcasts = new Map([...sources].map(([syncer, source]) => [syncer, new Broadcast(syncer, source, thread)]));
    this.#idBase = BigInt(Math.floor(random() * 2 ** 32)) << 32n;
    this.#context = {
      ...options,
      broadcasts: this.broadcasts,
      frames: new SharedFrames(streams),
      flights: new Flights(),
      now: () => clock.monotonicMs(),
      onGreeted: (session) => this.#noteGreeted(session),
      onEnd: (session, why) => this.#noteEnd(session, why),
    };
  }

  /** A TCP connection has been accepted; attach() it once it can carry messages. */
  accept(transport: Transport): Session {
    const { tally, limits, log } = this.#context;
    this.#accepted += 1n;
    const session = new Session(this.#idBase + this.#accepted, transport, this.#context);
    this.#sessions.set(session.id, session);
    this.#handshaking.add(session);
    tally.add("typha_connections_accepted", undefined, 1);
    tally.add("typha_connections_active", undefined, 1);
    log.debug("connection accepted", { client: transport.address, connID: session.id });
    if (this.#handshaking.size > limits.maxHandshaking) {
      const [longest] = this.#handshaking;
      longest?.end(sessionEnds.flood);
    }
    return session;
  }

  /** Accepts a connection that needs no TLS. */
  serve(transport: Transport, duplex: Duplex): Session {
    const session = this.accept(transport);
    session.attach(duplex);
    return session;
  }

  /** Watches deadlines until the signal aborts, then ends every session. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, limits } = this.#context;
    const intervalMs = tickIntervalMs(limits);
    try {
      for (;;) {
        await clock.sleep(intervalMs, signal);
        this.tick(clock.monotonicMs());
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    this.endAll(sessionEnds.shutdown);
  }

  tick(nowMs: number): void {
    for (const session of this.#sessions.values()) session.tick(nowMs);
  }

  endAll(why: SessionEnd): void {
    for (const session of [...this.#sessions.values()]) session.end(why);
  }

  /** Ends these connections, if they are here; true for each that was. */
  drop(ids: readonly bigint[], why: SessionEnd): number {
    let dropped = 0;
    for (const id of ids) {
      const session = this.#sessions.get(id);
      if (session === undefined) continue;
      session.end(why);
      dropped += 1;
    }
    return dropped;
  }

  get activeCount(): number {
    return this.#sessions.size;
  }

  reports(): ClientReport[] {
    return Array.from(this.#sessions.values(), (session) => session.report());
  }

  variantsInUse(syncer: SyncerType): Iterable<Variant> {
    return this.broadcasts.get(syncer)?.variantsInUse ?? [];
  }

  oldestPosition(syncer: SyncerType): Position {
    return this.broadcasts.get(syncer)?.oldestPosition ?? Number.POSITIVE_INFINITY;
  }

  flushCostMs(syncer: SyncerType): number {
    return this.broadcasts.get(syncer)?.costMs ?? 0;
  }

  writesSince(syncer: SyncerType, position: Position): readonly WriteRecord[] {
    return this.broadcasts.get(syncer)?.writes.since(position) ?? [];
  }

  take(syncer: SyncerType, flush: Flush): void {
    this.broadcasts.get(syncer)?.take(flush);
  }

  #noteGreeted(session: Session): void {
    this.#handshaking.delete(session);
    this.#context.tally.add("typha_connections_streaming", session.syncer, 1);
  }

  #noteEnd(session: Session, why: SessionEnd): void {
    const { tally, log } = this.#context;
    this.#sessions.delete(session.id);
    this.#handshaking.delete(session);
    tally.add("typha_connections_active", undefined, -1);
    if (session.isServed) tally.add("typha_connections_streaming", session.syncer, -1);
    tally.add("cattail_connections_closed_total", why.code, 1);
    const fields = { client: session.address, connID: session.id, type: session.syncer, code: why.code };
    // Probes and port scans open and close: who never said a word is not worth a line.
    const isProbe = why.code === "WIRE_PEER_CLOSED" && session.syncer === undefined;
    log[isProbe ? "debug" : why.severity](`connection closed: ${why.problem}`, fields);
  }
}
