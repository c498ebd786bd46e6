// What is on its way to one client: bounded writes with progress. Node buffers whatever it is handed (one write of 10 MB
// to 200 stalled clients held 2 GB), so a client is never handed more than one chunk that the kernel has not taken.
//
//   queue: [snapshot: part|part|part|…][closing]   →  in flight: 64 KiB, or 16 if many do not read  →  kernel
//
// The queue holds references to shared bytes, and its owner adds bulk only when it is empty: small messages (a hello, a
// status, one ping) are all that can gather behind it.
import type { Duplex } from "node:stream";
import type { Flights } from "./flights.ts";

/** How much is in flight: at most this, no more once half of it is, and what is longer is cut into pieces. */
type FlightSize = { readonly most: number; readonly piece: number };
/** A piece is one TLS record. */
const smallFlight: FlightSize = { most: 32 * 1024, piece: 16 * 1024 };
/** Four records, as large as the parts of a snapshot (cache/stretches.ts): written in one go, they cost half the CPU. */
const largeFlight: FlightSize = { most: 64 * 1024, piece: 64 * 1024 };

/** Whoever owns the outbox, in the present phase of the session. */
export type OutboxOwner = {
  /** Everything that was to be sent is with the kernel. */
  onIdle(): void;
  /** How long it took until then. */
  onLatency(ms: number): void;
};

/** Parts to be sent in a row; `at` is the next, `offset` what of it is sent. */
type Run = { readonly parts: readonly Uint8Array[]; at: number; offset: number };

export class Outbox {
  readonly #duplex: Duplex;
  readonly #now: () => number;
  readonly #flights: Flights;
  #owner: OutboxOwner;
  #busySinceMs = 0;
  #queue: Run[] = [];
  #queuedBytes = 0;
  #inFlight = 0;
  #inFlightBytes = 0;
  #bytesSent = 0;
  #progressAtMs = 0;

  constructor(duplex: Duplex, owner: OutboxOwner, thread: { readonly now: () => number; readonly flights: Flights }) {
    this.#duplex = duplex;
    this.#owner = owner;
    this.#now = thread.now;
    this.#flights = thread.flights;
  }

  /** From now on another one is told. */
  handTo(owner: OutboxOwner): void {
    this.#owner = owner;
  }

  /** Everything so far is with the kernel. */
  get isIdle(): boolean {
    return this.#inFlight === 0 && this.#queue.length === 0;
  }

  get queuedBytes(): number {
    return this.#queuedBytes + this.#inFlightBytes;
  }

  get bytesSent(): number {
    return this.#bytesSent;
  }

  /** How long the client has taken nothing although there is something for it. */
  stalledMs(nowMs: number): number {
    return this.#inFlight === 0 ? 0 : nowMs - this.#progressAtMs;
  }

  send(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#begin();
    if (this.#inFlight === 0 && this.#queue.length === 0 && bytes.length <= smallFlight.most) this.#write(bytes);
    else this.#enqueue([bytes], bytes.length);
  }

  /** Sends the parts one after the other; they are not to change. */
  sendAll(parts: readonly Uint8Array[]): void {
    if (parts.length === 0) return;
    this.#begin();
    this.#enqueue(
      parts,
      parts.reduce((total, part) => total + part.length, 0),
    );
  }

  /** Nothing more is sent: lets go of what has not been handed over, and of its share of the thread's flights. */
  close(): void {
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#land();
  }

  #begin(): void {
    if (this.#inFlight > 0) return;
    this.#progressAtMs = this.#now();
    this.#busySinceMs = this.#progressAtMs;
  }

  #enqueue(parts: readonly Uint8Array[], bytes: number): void {
    this.#queue.push({ parts, at: 0, offset: 0 });
    this.#queuedBytes += bytes;
    if (this.#inFlight === 0) this.#pump();
  }

  #pump(): void {
    const flight = this.#flights.mayBeLarge ? largeFlight : smallFlight;
    const first = this.#nextChunk(flight);
    if (first === undefined) return;
    // Several small pieces leave corked, in one packet and one TLS record. One alone is not copied for that.
    const isAlone = first.length >= flight.most / 2 || this.#queue.length === 0;
    if (!isAlone) this.#duplex.cork();
    for (let chunk: Uint8Array | undefined = first; chunk !== undefined; chunk = this.#nextChunk(flight)) {
      this.#queuedBytes -= chunk.length;
      this.#write(chunk);
    }
    if (!isAlone) this.#duplex.uncork();
  }

  /** Undefined: there is nothing more, or enough in flight. */
  #nextChunk({ most, piece }: FlightSize): Uint8Array | undefined {
    const [run] = this.#queue;
    const part = run?.parts[run.at];
    if (run === undefined || part === undefined || this.#inFlightBytes >= most / 2) return undefined;
    const left = part.length - run.offset;
    const room = most - this.#inFlightBytes;
    const size = left <= room ? left : Math.min(piece, room);
    const chunk = size === part.length ? part : part.subarray(run.offset, run.offset + size);
    run.offset += size;
    if (run.offset === part.length) {
      run.at += 1;
      run.offset = 0;
    }
    if (run.at === run.parts.length) this.#queue.shift();
    return chunk;
  }

  #write(chunk: Uint8Array): void {
    this.#inFlight += 1;
    this.#inFlightBytes += chunk.length;
    this.#bytesSent += chunk.length;
    this.#flights.begin(chunk.length);
    this.#duplex.write(chunk, this.#onWritten);
  }

  // One function for every write: on the hot path a closure per client and message would be garbage.
  readonly #onWritten = (error?: Error | null): void => {
    this.#inFlight -= 1;
    if (error !== undefined && error !== null) return; // the duplex reports it, and its owner ends
    this.#progressAtMs = this.#now();
    if (this.#inFlight > 0) return;
    this.#land();
    if (this.#queue.length > 0) this.#pump();
    else {
      this.#owner.onLatency(this.#progressAtMs - this.#busySinceMs);
      this.#owner.onIdle();
    }
  };

  #land(): void {
    this.#flights.end(this.#inFlightBytes);
    this.#inFlightBytes = 0;
  }
}
