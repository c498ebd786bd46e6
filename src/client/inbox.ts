// Bytes of a socket, asked for one read at a time. Nothing is asked for while the consumer is busy: the socket's buffer
// fills, then the kernel's, then the server has to wait. test/peers/client-life.test.ts measures it.
import type { Socket } from "node:net";
import type { Clock } from "../lib/index.ts";

/** A reason made once: without one, abort() makes an exception with a stack each time, which costs more than the read. */
const woken = new Error("woken");

export class Inbox {
  readonly #socket: Socket;
  readonly #clock: Clock;
  #wake: () => void = () => undefined;

  constructor(socket: Socket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
    for (const event of ["readable", "end", "close"]) socket.on(event, () => this.#wake());
  }

  /** What is there, once something is. A reset is an end: the protocol has no goodbye that could be missed. */
  async next(timeoutMs: number): Promise<Buffer | "end" | "timeout"> {
    const socket = this.#socket;
    for (;;) {
      const chunk: Buffer | null = socket.read();
      if (chunk !== null) return chunk;
      if (socket.readableEnded || socket.destroyed) return "end";
      if (!(await this.#woken(timeoutMs))) return "timeout";
    }
  }

  async #woken(timeoutMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiting = new AbortController();
    this.#wake = () => resolve(true);
    this.#clock.sleep(timeoutMs, waiting.signal).then(
      () => resolve(false),
      () => undefined, // woken first
    );
    try {
      return await promise;
    } finally {
      waiting.abort(woken);
    }
  }
}
