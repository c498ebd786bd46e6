// A netlink socket that plays what was recorded or made up, instead of the kernel.
import type { KernelSocket, Received } from "../../src/base/linux/kernel.ts";

export type Played = Uint8Array | Exclude<Received, number>;

export class PlayedSocket implements KernelSocket {
  readonly sent: Uint8Array[] = [];
  readonly #plays: Played[];
  #wake: () => void = () => undefined;

  /** After the last there is nothing, for ever. */
  constructor(plays: readonly Played[]) {
    this.#plays = [...plays];
  }

  send(bytes: Uint8Array): void {
    this.sent.push(bytes.slice());
  }

  receive(into: Uint8Array): Received {
    const next = this.#plays.shift() ?? "nothing";
    if (typeof next === "string") return next;
    into.set(next.subarray(0, into.length));
    return next.length;
  }

  wait(): Promise<void> {
    if (this.#plays.length > 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  wake(): void {
    this.#wake();
  }

  [Symbol.dispose](): void {
    this.wake();
  }
}
