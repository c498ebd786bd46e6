// Who changes the kernel's packet rules, and in which tables: one notice for each transaction that was taken, by anybody. What exactly was
// changed is not read; whoever keeps a table only has to know whether somebody else was at it.
//
//   nftables' multicast group ─▶ NEWTABLE, NEWRULE, DELSETELEM, ... each with its table's name ─▶ NEWGEN: the transaction is complete
import { messageOf, passAbort } from "../../lib/index.ts";
import type { KernelSocket } from "../netlink/kernel-socket.ts";
import { type Message, readMessages } from "../netlink/messages/message-reader.ts";

export type RulesetChange =
  /** `family inet` is 1. */
  | { readonly is: "transaction"; readonly tables: readonly { readonly family: number; readonly name: string }[] }
  /** The kernel had more to tell than its buffer takes. */
  | { readonly is: "lost"; readonly why: string };

/** As the bit that bind() takes: NFNLGRP_NFTABLES is 7. */
export const rulesetGroup = 1 << 6;
const subsystem = 10;
const newGeneration = 15;
const tableAttribute = 1; // of tables, chains, rules, sets, elements, objects and flow tables alike
const headerBytes = 4;
const bufferBytes = 256 * 1024;

/** One consumer. Ends when the signal aborts or it is disposed of. */
export class RulesetChanges implements AsyncDisposable {
  readonly #socket: KernelSocket;
  readonly #stop = new AbortController();
  readonly #passing: Disposable;
  readonly #buffer = new Uint8Array(bufferBytes);
  readonly #tables = new Map<string, { family: number; name: string }>();

  constructor(socket: KernelSocket, signal?: AbortSignal) {
    this.#socket = socket;
    this.#stop.signal.addEventListener("abort", () => this.#socket.wake(), { once: true });
    this.#passing = passAbort(signal, this.#stop);
  }

  /** Resolves when there may be something to take, or when it is over. */
  async wait(): Promise<void> {
    if (!this.#stop.signal.aborted) await this.#socket.wait();
  }

  /** What there is by now; never waits. */
  take(): readonly RulesetChange[] {
    const found: RulesetChange[] = [];
    while (!this.#stop.signal.aborted) {
      const received = this.#socket.receive(this.#buffer);
      if (received === "nothing") break;
      if (received === "overrun") found.push({ is: "lost", why: "the kernel had more than its buffer takes" });
      else if (received > this.#buffer.length) found.push({ is: "lost", why: `a message of ${received} bytes` });
      else this.#read(this.#buffer.subarray(0, received), found);
    }
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#passing[Symbol.dispose]();
    this.#socket[Symbol.dispose]();
  }

  #read(datagram: Uint8Array, found: RulesetChange[]): void {
    try {
      for (const message of readMessages(datagram)) this.#take(message, found);
    } catch (error) {
      found.push({ is: "lost", why: messageOf(error) });
    }
  }

  #take({ type, body }: Message, found: RulesetChange[]): void {
    if (type >> 8 !== subsystem) return;
    if ((type & 0xff) === newGeneration) {
      found.push({ is: "transaction", tables: [...this.#tables.values()] });
      this.#tables.clear();
      return;
    }
    const family = body.u8();
    body.from(headerBytes).attributes((attribute, value) => {
      if (attribute !== tableAttribute) return;
      const name = value.text();
      this.#tables.set(`${family} ${name}`, { family, name });
    });
  }
}
