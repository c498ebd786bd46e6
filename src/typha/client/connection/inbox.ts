// Bytes of a socket, asked for one read at a time. Nothing is asked for while the consumer is busy: the socket's buffer
// fills, then the kernel's, then the server has to wait. test/peers/client-life.test.ts measures it.
import type { Socket } from "node:net";
import type { Clock } from "../../../base/lib/index.ts";
import type { Arrivals } from "./arrivals.ts";

const closed = new Error("closed");

export class Inbox {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #arrivals: Arrivals | undefined;
  readonly #closing = new AbortController();
  #wake: ((isInTime: boolean) => void) | undefined;
  /** When the wait under way has taken too long. */
  #dueMs = 0;
  #isWatched = false;

  /** `arrivals` are those that the socket was opened with, if it was. */
  constructor(socket: Socket, clock: Clock, arrivals?: Arrivals) {
    this.#socket = socket;
    this.#clock = clock;
    this.#arrivals = arrivals;
    if (arrivals !== undefined) arrivals.onArrival = () => this.#wake?.(true);
    for (const event of ["readable", "end", "close"]) socket.on(event, () => this.#wake?.(true));
  }

  /** What is there, once something is: valid until the next call. A reset is an end: the protocol has no goodbye that could be missed. */
  async next(timeoutMs: number): Promise<Buffer | "end" | "timeout"> {
    const socket = this.#socket;
    for (;;) {
      // With arrivals there is never anything to read, but being asked lets the socket go on.
      const chunk: Buffer | null = this.#arrivals?.take() ?? socket.read();
      if (chunk !== null) return chunk;
      if (socket.readableEnded || socket.destroyed) return "end";
      if (!(await this.#woken(timeoutMs))) return "timeout";
    }
  }

  /** Nobody asks any more. */
  close(): void {
    this.#closing.abort(closed);
  }

  async #woken(timeoutMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#dueMs = this.#clock.monotonicMs() + timeoutMs;
    this.#wake = resolve;
    if (!this.#isWatched) this.#watch().catch(() => undefined); // closed while it slept
    try {
      return await promise;
    } finally {
      this.#wake = undefined;
    }
  }

  // One sleeper for many waits, which looks when it wakes whether its time has moved on: a timer and its end for each read
  // cost more than the read.
  async #watch(): Promise<void> {
    this.#isWatched = true;
    while (this.#wake !== undefined) {
      const leftMs = this.#dueMs - this.#clock.monotonicMs();
      if (leftMs > 0) await this.#clock.sleep(leftMs, this.#closing.signal);
      else {
        this.#wake(false);
        this.#wake = undefined;
      }
    }
    this.#isWatched = false;
  }
}
