// Sockets in any network namespace, of any protocol, from one process: what probes and their servers are made of. Node's own sockets cannot
// be opened in a namespace (they are opened a turn later), and it has no raw ones.
import type * as ffiModule from "node:ffi";
import { constants } from "node:os";
import { readinessOf } from "../../../src/base/linux/ffi/readiness.ts";
import { inNamespace } from "../../../src/base/linux/kernel.ts";
import { ipBytes, ipText } from "../../../src/base/linux/netlink/messages/ip-bytes.ts";

const definitions = {
  socket: { arguments: ["i32", "i32", "i32"], return: "i32" },
  bind: { arguments: ["i32", "buffer", "u32"], return: "i32" },
  connect: { arguments: ["i32", "buffer", "u32"], return: "i32" },
  listen: { arguments: ["i32", "i32"], return: "i32" },
  accept4: { arguments: ["i32", "buffer", "buffer", "i32"], return: "i32" },
  send: { arguments: ["i32", "buffer", "u64", "i32"], return: "i64" },
  sendto: { arguments: ["i32", "buffer", "u64", "i32", "buffer", "u32"], return: "i64" },
  recvfrom: { arguments: ["i32", "buffer", "u64", "i32", "buffer", "buffer"], return: "i64" },
  setsockopt: { arguments: ["i32", "i32", "i32", "buffer", "u32"], return: "i32" },
  getsockopt: { arguments: ["i32", "i32", "i32", "buffer", "buffer"], return: "i32" },
  close: { arguments: ["i32"], return: "i32" },
  epoll_create1: { arguments: ["i32"], return: "i32" },
  epoll_ctl: { arguments: ["i32", "i32", "i32", "buffer"], return: "i32" },
  epoll_wait: { arguments: ["i32", "buffer", "i32", "i32"], return: "i32" },
  __errno_location: { arguments: [], return: "pointer" },
} as const;

// node:ffi is experimental, and says so once; a test can do nothing about it.
const warn = process.emitWarning;
process.emitWarning = () => undefined;
const ffi = process.getBuiltinModule("node:ffi") as typeof ffiModule;
process.emitWarning = warn;
const { functions: c } = ffi.dlopen(null, definitions);
const errnoAt = c.__errno_location();

export class Refused extends Error {
  readonly errno: string;
  constructor(call: string) {
    const number = ffi.getInt32(errnoAt);
    const name = Object.entries(constants.errno).find(([, value]) => value === number)?.[0] ?? String(number);
    super(`${call}: ${name}`);
    this.errno = name;
  }
}

export type Kind = "stream" | "datagram" | "raw";
const kinds: { readonly [K in Kind]: number } = { stream: 1, datagram: 2, raw: 3 };
const nonBlocking = 0o4000 | 0o2000000;
const { EAGAIN, EINPROGRESS } = constants.errno;

/** One of the kernel's sockets by its number. */
export class RawSocket {
  readonly fd: number;
  readonly family: 4 | 6;
  isClosed = false;

  constructor(fd: number, family: 4 | 6) {
    this.fd = fd;
    this.family = family;
  }

  static open(namespace: string | undefined, family: 4 | 6, kind: Kind, protocol = 0): RawSocket {
    const make = () => c.socket(family === 4 ? 2 : 10, kinds[kind] | nonBlocking, protocol);
    const fd = namespace === undefined ? make() : inNamespace(namespace, make);
    if (fd < 0) throw new Refused("socket");
    return new RawSocket(fd, family);
  }

  option(level: number, name: number, ...values: readonly number[]): this {
    const bytes = new Uint8Array(new Int32Array(values).buffer);
    if (c.setsockopt(this.fd, level, name, bytes, bytes.length) < 0) throw new Refused("setsockopt");
    return this;
  }

  bind(address: string, port = 0): this {
    const bytes = socketAddress(address, port);
    if (c.bind(this.fd, bytes, bytes.length) < 0) throw new Refused("bind");
    return this;
  }

  listen(): this {
    if (c.listen(this.fd, 256) < 0) throw new Refused("listen");
    return this;
  }

  connect(address: string, port: number): void {
    const bytes = socketAddress(address, port);
    if (c.connect(this.fd, bytes, bytes.length) >= 0) return;
    if (ffi.getInt32(errnoAt) !== EINPROGRESS) throw new Refused("connect");
  }

  /** What became of a connect: undefined is "connected", or still under way. */
  failure(): string | undefined {
    const value = new Uint8Array(4);
    c.getsockopt(this.fd, 1, 4, value, new Uint8Array(new Int32Array([4]).buffer));
    const number = new DataView(value.buffer).getInt32(0, true);
    if (number === 0) return undefined;
    return Object.entries(constants.errno).find(([, known]) => known === number)?.[0] ?? String(number);
  }

  /** Of a TCP socket: tcpi_total_retrans of TCP_INFO. */
  retransmissions(): number {
    const value = new Uint8Array(104);
    const isTold = c.getsockopt(this.fd, 6, 11, value, new Uint8Array(new Int32Array([value.length]).buffer)) === 0;
    return isTold ? new DataView(value.buffer).getUint32(100, true) : 0;
  }

  accept(): { readonly socket: RawSocket; readonly peer: string } | undefined {
    const address = new Uint8Array(28);
    const fd = c.accept4(this.fd, address, new Uint8Array(new Int32Array([28]).buffer), nonBlocking);
    return fd < 0 ? undefined : { socket: new RawSocket(fd, this.family), peer: hostOf(address) };
  }

  send(bytes: Uint8Array): void {
    if (c.send(this.fd, bytes, BigInt(bytes.length), 0x4000) < 0n) throw new Refused("send");
  }

  sendTo(bytes: Uint8Array, address: string, port = 0): void {
    this.sendBack(bytes, socketAddress(address, port));
  }

  sendBack(bytes: Uint8Array, to: Uint8Array): void {
    if (c.sendto(this.fd, bytes, BigInt(bytes.length), 0x4000, to, this.family === 4 ? 16 : 28) < 0n)
      throw new Refused("sendto");
  }

  /** Undefined: nothing now. */
  receive(): { readonly bytes: Uint8Array; readonly from: string; readonly address: Uint8Array } | undefined {
    const bytes = new Uint8Array(4096);
    const address = new Uint8Array(28);
    const size = new Uint8Array(new Int32Array([28]).buffer);
    const length = c.recvfrom(this.fd, bytes, 4096n, 0x40, address, size);
    if (length >= 0n) return { bytes: bytes.subarray(0, Number(length)), from: hostOf(address), address };
    if (ffi.getInt32(errnoAt) === EAGAIN) return undefined;
    throw new Refused("recvfrom");
  }

  close(): void {
    if (!this.isClosed) c.close(this.fd);
    this.isClosed = true;
  }
}

export type Watched = { readonly onReady: () => void };

/** Calls back when one of its sockets can be read (or, where asked for, written), from this thread's event loop. */
export class Poller {
  readonly #epoll = c.epoll_create1(0);
  readonly #readiness = readinessOf(this.#epoll);
  readonly #watched = new Map<number, Watched>();
  readonly #events = new Uint8Array(12 * 256);
  #isClosed = false;

  constructor() {
    void this.#run();
  }

  add(socket: RawSocket, watched: Watched, wants: "read" | "write" = "read"): void {
    const isKnown = this.#watched.has(socket.fd);
    this.#watched.set(socket.fd, watched);
    const event = new Uint8Array(12);
    new DataView(event.buffer).setUint32(0, wants === "read" ? 1 : 4, true);
    new DataView(event.buffer).setInt32(4, socket.fd, true);
    c.epoll_ctl(this.#epoll, isKnown ? 3 : 1, socket.fd, event);
  }

  /** To be called before the socket is closed. */
  remove(socket: RawSocket): void {
    if (this.#watched.delete(socket.fd)) c.epoll_ctl(this.#epoll, 2, socket.fd, this.#events);
  }

  close(): void {
    this.#isClosed = true;
    this.#readiness[Symbol.dispose]();
    c.close(this.#epoll);
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      await this.#readiness.wait();
      if (this.#isClosed) return;
      this.#turn();
    }
  }

  #turn(): void {
    const count = c.epoll_wait(this.#epoll, this.#events, 256, 0);
    const view = new DataView(this.#events.buffer);
    const fds = Array.from({ length: Math.max(0, count) }, (_, at) => view.getInt32(at * 12 + 4, true));
    for (const fd of fds) this.#watched.get(fd)?.onReady();
  }
}

export function socketAddress(address: string, port: number): Uint8Array {
  const { family, bytes } = ipBytes(address);
  const made = new Uint8Array(family === "inet" ? 16 : 28);
  const view = new DataView(made.buffer);
  view.setUint16(0, family === "inet" ? 2 : 10, true);
  view.setUint16(2, port, false);
  made.set(bytes, family === "inet" ? 4 : 8);
  return made;
}

function hostOf(address: Uint8Array): string {
  const isSix = new DataView(address.buffer).getUint16(0, true) === 10;
  return ipText(isSix ? address.subarray(8, 24) : address.subarray(4, 8));
}
