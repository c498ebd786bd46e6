// Packets that rules with "log group" have picked out, with the rule's prefix: the kernel's nfnetlink_log, one group of it.
import { CattailError, passAbort } from "../../lib/index.ts";
import type { KernelSocket } from "../netlink/kernel-socket.ts";
import { readMessages, type Span } from "../netlink/messages/message-reader.ts";
import { MessageWriter } from "../netlink/messages/message-writer.ts";

export type LoggedPacket = {
  readonly prefix: string;
  /** By their index; undefined: none, as of a packet that comes from the node itself. */
  readonly inInterface: number | undefined;
  readonly outInterface: number | undefined;
  /** From the IP header on, perhaps cut off. */
  readonly packet: Uint8Array;
};

const subsystem = 4; // NFNL_SUBSYS_ULOG
const [packetMessage, configMessage] = [0, 1];
const [request, acknowledge] = [1, 4];
const [configCommand, configMode] = [1, 2];
const bindGroup = 1;
const copyPacket = 2;
const copiedBytes = 128;
const attribute = { inInterface: 4, outInterface: 5, payload: 9, prefix: 10 } as const;
const headerBytes = 4;
const errorMessage = 2;
const bufferBytes = 64 * 1024;

/** One consumer. Ends when the signal aborts or it is disposed of. */
export class PacketLog implements AsyncDisposable {
  readonly #socket: KernelSocket;
  readonly #stop = new AbortController();
  readonly #passing: Disposable;
  readonly #buffer = new Uint8Array(bufferBytes);

  constructor(socket: KernelSocket, group: number, signal?: AbortSignal) {
    this.#socket = socket;
    this.#stop.signal.addEventListener("abort", () => this.#socket.wake(), { once: true });
    this.#passing = passAbort(signal, this.#stop);
    socket.send(bindRequest(group));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LoggedPacket, void, undefined> {
    while (!this.#stop.signal.aborted) {
      const received = this.#socket.receive(this.#buffer);
      if (received === "nothing") await this.#socket.wait();
      // What is lost is a sample more or less.
      else if (received !== "overrun" && received <= this.#buffer.length)
        yield* readPackets(this.#buffer.subarray(0, received));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#passing[Symbol.dispose]();
    this.#socket[Symbol.dispose]();
  }
}

/** "This group's packets to me", and so many bytes of each. */
function bindRequest(group: number): Uint8Array {
  const out = new MessageWriter();
  const config = (sequence: number, write: () => void) => {
    out.begin((subsystem << 8) | configMessage, request | acknowledge, sequence);
    out.u8(0);
    out.u8(0);
    out.raw(new Uint8Array([group >> 8, group & 0xff])); // in network order
    write();
    out.end();
  };
  config(1, () => out.attribute(configCommand, new Uint8Array([bindGroup])));
  const mode = new Uint8Array(6);
  new DataView(mode.buffer).setUint32(0, copiedBytes, false);
  mode[4] = copyPacket;
  config(2, () => out.attribute(configMode, mode));
  return out.bytes().slice();
}

export function readPackets(datagram: Uint8Array): readonly LoggedPacket[] {
  const found: LoggedPacket[] = [];
  for (const { type, body } of readMessages(datagram)) {
    if (type === errorMessage && body.i32() !== 0) throw notGiven(-body.i32());
    if (type !== ((subsystem << 8) | packetMessage)) continue;
    found.push(readPacket(body.from(headerBytes)));
  }
  return found;
}

function readPacket(body: Span): LoggedPacket {
  let prefix = "";
  let packet: Uint8Array = new Uint8Array();
  const interfaces: { in?: number; out?: number } = {};
  body.attributes((type, value) => {
    if (type === attribute.prefix) prefix = value.text();
    else if (type === attribute.payload) packet = value.borrow().slice();
    else if (type === attribute.inInterface) interfaces.in = value.u32Network();
    else if (type === attribute.outInterface) interfaces.out = value.u32Network();
  });
  return { prefix, packet, inInterface: interfaces.in, outInterface: interfaces.out };
}

function notGiven(errno: number): CattailError {
  return new CattailError("PACKET_LOG", {
    problem: `the kernel does not give its packet log (errno ${errno})`,
    next: "Run this as root; if another program reads the same group, stop it; the kernel needs nfnetlink_log",
  });
}
