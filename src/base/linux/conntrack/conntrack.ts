// Forgetting connections: when an address goes to somebody else, what the kernel remembers of the one before must not be taken for his.
import { constants } from "node:os";
import { CattailError, type Clock, settleWithin, systemClock } from "../../lib/index.ts";
import { readAnswer, readDone, refused } from "../netlink/kernel-answer.ts";
import type { KernelSocket } from "../netlink/kernel-socket.ts";
import { ipBytes, ipText } from "../netlink/messages/ip-bytes.ts";
import { readMessages } from "../netlink/messages/message-reader.ts";
import { MessageWriter } from "../netlink/messages/message-writer.ts";
import { type Family, messageTypes } from "../netlink/messages/numbers.ts";
import {
  type Connection,
  conntrackTypes,
  readConnection,
  writeConntrackDelete,
  writeConntrackDump,
} from "./messages.ts";

const answerLimitMs = 10_000;
const deletesAtOnce = 128;

export class Conntrack implements AsyncDisposable {
  readonly #socket: KernelSocket;
  readonly #clock: Clock;
  readonly #out = new MessageWriter();
  readonly #buffer = new Uint8Array(128 * 1024);
  #sequence = 0;
  #line: Promise<unknown> = Promise.resolve();

  /** The socket is this one's from now on. */
  constructor(socket: KernelSocket, clock: Clock = systemClock) {
    this.#socket = socket;
    this.#clock = clock;
  }

  /**
   * Deletes every connection that has one of these addresses at either end, before or after translation. Returns how many. Whoever opens
   * one meanwhile may be missed: see to it first that no packet gets through.
   */
  forget(addresses: Iterable<string>): Promise<number> {
    const wanted = new Set<string>();
    const families = new Set<Family>();
    for (const address of addresses) {
      const { family, bytes } = ipBytes(address);
      families.add(family);
      wanted.add(ipText(bytes));
    }
    const mine = this.#line.then(async () => {
      let count = 0;
      for (const family of families) count += await this.#forgetOf(family, wanted);
      return count;
    });
    this.#line = mine.catch(() => undefined); // whoever asked has the error
    return mine;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#line;
    this.#socket[Symbol.dispose]();
  }

  async #forgetOf(family: Family, addresses: ReadonlySet<string>): Promise<number> {
    const found = await this.#list(family, addresses);
    let count = 0;
    for (let from = 0; from < found.length; from += deletesAtOnce) {
      count += await this.#delete(found.slice(from, from + deletesAtOnce));
    }
    return count;
  }

  async #list(family: Family, addresses: ReadonlySet<string>): Promise<Connection[]> {
    this.#out.clear();
    const sequence = this.#next();
    writeConntrackDump(this.#out, family, sequence);
    this.#socket.send(this.#out.bytes());
    const found: Connection[] = [];
    for (;;) {
      for (const message of readMessages(await this.#receive())) {
        if (message.sequence !== sequence) continue;
        if (message.type === messageTypes.NLMSG_DONE || message.type === messageTypes.NLMSG_ERROR) {
          const answer = message.type === messageTypes.NLMSG_DONE ? readDone(message) : readAnswer(message);
          if (answer.errno !== 0) throw refused("list connections", answer, this.#out.bytes());
          return found;
        }
        if (message.type !== conntrackTypes.new) continue;
        const connection = readConnection(message);
        if (connection?.addresses.some((address) => addresses.has(address)) === true) found.push(connection);
      }
    }
  }

  async #delete(connections: readonly Connection[]): Promise<number> {
    this.#out.clear();
    const first = this.#sequence + 1;
    for (const connection of connections) writeConntrackDelete(this.#out, connection, this.#next());
    this.#socket.send(this.#out.bytes());
    let [answers, deleted] = [0, 0];
    while (answers < connections.length) {
      for (const message of readMessages(await this.#receive())) {
        if (message.type !== messageTypes.NLMSG_ERROR) continue;
        if (message.sequence < first || message.sequence >= first + connections.length) continue;
        answers += 1;
        const answer = readAnswer(message);
        if (answer.errno === 0) deleted += 1;
        // It ended by itself meanwhile.
        else if (answer.errno !== constants.errno.ENOENT)
          throw refused("delete a connection", answer, this.#out.bytes());
      }
    }
    return deleted;
  }

  #next(): number {
    if (this.#sequence > 0x7000_0000) this.#sequence = 0;
    this.#sequence += 1;
    return this.#sequence;
  }

  async #receive(): Promise<Uint8Array> {
    for (;;) {
      const length = this.#socket.receive(this.#buffer);
      if (length === "overrun") throw lost("its receive buffer was full");
      if (length !== "nothing") {
        if (length > this.#buffer.length) throw lost(`it has ${length} bytes`);
        return this.#buffer.subarray(0, length);
      }
      const waited = await settleWithin(this.#socket.wait(), { clock: this.#clock, limitMs: answerLimitMs });
      if (waited.is === "late") throw lost(`none came within ${answerLimitMs} ms`);
    }
  }
}

function lost(why: string): CattailError {
  return new CattailError("NETLINK_NO_ANSWER", {
    problem: `the kernel's answer about connections was lost: ${why}`,
    next: "Look at what is there now (it may have been done), and try again",
  });
}
