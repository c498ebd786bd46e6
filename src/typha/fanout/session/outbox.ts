// What is on its way to one client: bounded writes with progress. Node buffers whatever it is handed (one write of 10 MB
// to 200 stalled clients held 2 GB), so a client is never handed more than one chunk that the kernel has not taken.
//
//   queue: [snapshot: part|part|part|…][closing]   →  in flight: about 16 KiB, at most 32  →  kernel
//
// The queue holds references to shared bytes, and its owner adds bulk only when it is empty: small messages (a hello, a
// status, one ping) are all that can gather behind it.
import type { Duplex } from "node:stream";

/** One TLS record. Larger chunks cost as much CPU, and memory for every client that does not read (bench/fanout). */
const chunkBytes = 16 * 1024;
/** What is hardly larger than a chunk goes in one piece. */
const largestWholeBytes = 2 * chunkBytes;

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
  #owner: OutboxOwner;
  #busySinceMs = 0;
  #queue: Run[] = [];
  #queuedBytes = 0;
  #inFlight = 0;
  #inFlightBytes = 0;
  #bytesSent = 0;
  #progressAtMs = 0;

  constructor(duplex: Duplex, owner: OutboxOwner, now: () => number) {
    this.#duplex = duplex;
    this.#owner = owner;
    this.#now = now;
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
    if (this.#inFlight === 0 && this.#queue.length === 0 && bytes.length <= largestWholeBytes) this.#write(bytes);
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

  /** Lets go of what has not been handed over. */
  clear(): void {
    this.#queue = [];
    this.#queuedBytes = 0;
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
    // Corked, so that several small pieces leave in one packet and one TLS record.
    this.#duplex.cork();
    while (this.#inFlightBytes < chunkBytes) {
      const chunk = this.#nextChunk();
      if (chunk === undefined) break;
      this.#queuedBytes -= chunk.length;
      this.#write(chunk);
    }
    this.#duplex.uncork();
  }

  #nextChunk(): Uint8Array | undefined {
    const [run] = this.#queue;
    const part = run?.parts[run.at];
    if (run === undefined || part === undefined) return undefined;
    const left = part.length - run.offset;
    const size = left <= largestWholeBytes - this.#inFlightBytes ? left : Math.min(left, chunkBytes);
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
    this.#duplex.write(chunk, this.#onWritten);
  }

  // One function for every write: on the hot path a closure per client and message would be garbage.
  readonly #onWritten = (error?: Error | null): void => {
    this.#inFlight -= 1;
    if (error !== undefined && error !== null) return; // the duplex reports it, and its owner ends
    this.#progressAtMs = this.#now();
    if (this.#inFlight > 0) return;
    this.#inFlightBytes = 0;
    if (this.#queue.length > 0) this.#pump();
    else {
      this.#owner.onLatency(this.#progressAtMs - this.#busySinceMs);
      this.#owner.onIdle();
    }
  };
}
