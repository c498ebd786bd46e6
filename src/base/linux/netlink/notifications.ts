// What changes in the kernel, as it happens. The kernel's receive buffer is the only queue: it is read when the consumer asks for more,
// and when it was full the consumer is told that something is lost, so that it lists again.
//
//   open (from now on nothing is missed) ─▶ list what is there ─▶ for await: set, deleted ... lost ─▶ list again ─▶ set, ...
import { messageOf, passAbort } from "../../lib/index.ts";
import type { KernelSocket } from "./kernel-socket.ts";
import { type Address, readAddress } from "./messages/addresses.ts";
import { type Link, readLink } from "./messages/links.ts";
import { type Message, readMessages } from "./messages/message-reader.ts";
import { type Neighbour, readNeighbour } from "./messages/neighbours.ts";
import { groups, messageTypes as type } from "./messages/numbers.ts";
import { type Route, readRoute } from "./messages/routes.ts";
import { type Rule, readRule } from "./messages/rules.ts";
import { type LinkSysctls, readLinkSysctls } from "./messages/sysctls.ts";

export type Subject = "link" | "address" | "route" | "neighbour" | "rule" | "sysctl";
export type Notification =
  | { readonly is: "set" | "deleted"; readonly link: Link }
  | { readonly is: "set" | "deleted"; readonly address: Address }
  /** `replaces`: it took the place of the one with the same destination, table and metric. */
  | { readonly is: "set" | "deleted"; readonly route: Route; readonly replaces: boolean }
  | { readonly is: "set" | "deleted"; readonly neighbour: Neighbour }
  | { readonly is: "set" | "deleted"; readonly rule: Rule }
  /** Only those few settings of /proc/sys/net that the kernel tells of. */
  | { readonly is: "set" | "deleted"; readonly sysctls: LinkSysctls }
  /** Some are missing: whoever keeps a picture lists everything again. */
  | { readonly is: "lost"; readonly why: string };

export function groupsOf(subjects: readonly Subject[]): number {
  const masks: { readonly [subject in Subject]: number } = {
    link: groups.link,
    address: groups.address4 | groups.address6,
    route: groups.route4 | groups.route6,
    neighbour: groups.neighbour,
    rule: groups.rule4 | groups.rule6,
    sysctl: groups.settings4 | groups.settings6,
  };
  return subjects.reduce((mask, subject) => mask | masks[subject], 0) >>> 0;
}

const bufferBytes = 128 * 1024;
const mostDrained = 100_000;

/** One consumer. Ends when the signal aborts or it is disposed of. */
export class Notifications implements AsyncDisposable {
  readonly #socket: KernelSocket;
  readonly #stop = new AbortController();
  readonly #passing: Disposable;
  readonly #buffer = new Uint8Array(bufferBytes);

  constructor(socket: KernelSocket, signal?: AbortSignal) {
    this.#socket = socket;
    this.#stop.signal.addEventListener("abort", () => this.#socket.wake(), { once: true });
    this.#passing = passAbort(signal, this.#stop);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Notification, void, undefined> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const received = this.#socket.receive(this.#buffer);
      if (received === "nothing") await this.#socket.wait();
      else if (received === "overrun") yield this.#lost("the kernel had more than its buffer takes");
      else if (received > this.#buffer.length) yield this.#lost(`a message of ${received} bytes`);
      else yield* this.#read(this.#buffer.subarray(0, received));
    }
  }

  /**
   * Everything that the kernel has told by now, in order, for a consumer that must know it before it acts: what was changed before this call,
   * by whomever, is in it. Not beside the iteration, which would be overtaken.
   */
  take(): Notification[] {
    const found: Notification[] = [];
    for (let i = 0; i < mostDrained; i++) {
      const received = this.#socket.receive(this.#buffer);
      if (received === "nothing") break;
      if (received === "overrun") found.push(this.#lost("the kernel had more than its buffer takes"));
      else if (received > this.#buffer.length) found.push(this.#lost(`a message of ${received} bytes`));
      else found.push(...this.#read(this.#buffer.subarray(0, received)));
    }
    return found;
  }

  /** Resolves when there may be something to take, or when the signal aborts. */
  async wait(): Promise<void> {
    if (!this.#stop.signal.aborted) await this.#socket.wait();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#passing[Symbol.dispose]();
    this.#socket[Symbol.dispose]();
  }

  // Decoded before the first is handed over: the buffer is used again.
  #read(datagram: Uint8Array): Notification[] {
    try {
      const found: Notification[] = [];
      for (const message of readMessages(datagram)) {
        const notification = readNotification(message);
        if (notification !== undefined) found.push(notification);
      }
      return found;
    } catch (error) {
      return [this.#lost(messageOf(error))];
    }
  }

  // What still waits is older than the list that the consumer will ask for.
  #lost(why: string): Notification {
    for (let i = 0; i < mostDrained && this.#socket.receive(this.#buffer) !== "nothing"; i++);
    return { is: "lost", why };
  }
}

/** Undefined: not about anything that has a place here. */
export function readNotification(message: Message): Notification | undefined {
  const { body } = message;
  switch (message.type) {
    case type.RTM_NEWLINK:
    case type.RTM_DELLINK: {
      // A bridge also tells of its ports in messages of its own family, which have only a part of the link.
      if (body.u8() !== 0) return undefined;
      return { is: message.type === type.RTM_NEWLINK ? "set" : "deleted", link: readLink(body) };
    }
    case type.RTM_NEWADDR:
    case type.RTM_DELADDR: {
      const address = readAddress(body);
      return address && { is: message.type === type.RTM_NEWADDR ? "set" : "deleted", address };
    }
    case type.RTM_NEWROUTE:
    case type.RTM_DELROUTE: {
      const route = readRoute(body);
      const replaces = (message.flags & replaceFlag) !== 0;
      return route && { is: message.type === type.RTM_NEWROUTE ? "set" : "deleted", route, replaces };
    }
    case type.RTM_NEWNEIGH:
    case type.RTM_DELNEIGH: {
      const neighbour = readNeighbour(body);
      return neighbour && { is: message.type === type.RTM_NEWNEIGH ? "set" : "deleted", neighbour };
    }
    case type.RTM_NEWRULE:
    case type.RTM_DELRULE: {
      const rule = readRule(body);
      return rule && { is: message.type === type.RTM_NEWRULE ? "set" : "deleted", rule };
    }
    case type.RTM_NEWNETCONF:
    case type.RTM_DELNETCONF: {
      const sysctls = readLinkSysctls(body);
      return sysctls && { is: message.type === type.RTM_NEWNETCONF ? "set" : "deleted", sysctls };
    }
    default:
      return undefined;
  }
}

const replaceFlag = 0x100; // NLM_F_REPLACE
