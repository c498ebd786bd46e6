// What is on its way to one client: bounded writes with progress. Node buffers whatever it is handed (one write of 10 MB
// to 200 stalled clients held 2 GB), so a client is never handed more than one chunk that the kernel has not taken.
//
//   queue: [snapshot 10 MB][closing]   →  in flight: ≤ 64 KiB  →  kernel
//
// The queue holds references to shared bytes, and its owner adds bulk only when it is empty: small messages (a hello, a
// status, one ping) are all that can gather behind it.
import type { Duplex } from "node:stream";

const chunkBytes = 64 * 1024;

export type OutboxOptions = {
  /** Everything that was to be sent is with the kernel. */
  onIdle: () => void;
  /** How long it took until then. */
  onLatency: (ms: number) => void;
  now: () => number;
};

export class Outbox {
  readonly #duplex: Duplex;
  readonly #onIdle: () => void;
  readonly #now: () => number;
  readonly #onLatency: (ms: number) => void;
  #busySinceMs = 0;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #inFlight = 0;
  #inFlightBytes = 0;
  #bytesSent = 0;
  #progressAtMs = 0;

  constructor(duplex: Duplex, options: OutboxOptions) {
    this.#duplex = duplex;
    this.#onIdle = options.onIdle;
    this.#now = options.now;
    this.#onLatency = options.onLatency;
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
    if (this.#inFlight === 0) {
      this.#progressAtMs = this.#now();
      this.#busySinceMs = this.#progressAtMs;
    }
    if (this.#inFlight === 0 && this.#queue.length === 0 && bytes.length <= chunkBytes) {
      this.#write(bytes);
      return;
    }
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    if (this.#inFlight === 0) this.#pump();
  }

  /** Lets go of what has not been handed over. */
  clear(): void {
    this.#queue = [];
    this.#queuedBytes = 0;
  }

  #pump(): void {
    // Corked, so that several small pieces leave in one packet and one TLS record.
    this.#duplex.cork();
    while (this.#inFlightBytes < chunkBytes) {
      const [next] = this.#queue;
      if (next === undefined) break;
      const room = chunkBytes - this.#inFlightBytes;
      if (next.length <= room) {
        this.#queue.shift();
        this.#queuedBytes -= next.length;
        this.#write(next);
      } else {
        this.#queue[0] = next.subarray(room);
        this.#queuedBytes -= room;
        this.#write(next.subarray(0, room));
      }
    }
    this.#duplex.uncork();
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
      this.#onLatency(this.#progressAtMs - this.#busySinceMs);
      this.#onIdle();
    }
  };
}
