// A netlink socket of the kernel, non-blocking, with the options that make its answers complete: extended acknowledgements (the kernel's own
// words for an error), no copy of the request in them, and strict checking of dump requests, so that filters are filters.
import { constants } from "node:os";
import type { KernelSocket, Received } from "../netlink/kernel-socket.ts";
import { failedCall, libc } from "./libc.ts";
import { type Readiness, readinessOf } from "./readiness.ts";

const addressFamilyNetlink = 16;
const rawNonBlockingCloseOnExec = 3 | 0o4000 | 0o2000000;
/** Which part of the kernel answers: links, addresses and routes, or the connection tracker. */
const netlinkProtocols = { route: 0, netfilter: 12 } as const;
const solSocket = 1;
const receiveBuffer = 8;
const receiveBufferForce = 33;
const solNetlink = 270;
const capAck = 10;
const extAck = 11;
const strictCheck = 12;
const dontWaitAndTellLength = 0x40 | 0x20; // MSG_DONTWAIT | MSG_TRUNC
const { EAGAIN, ENOBUFS, EINTR } = constants.errno;

/** In the network namespace that this thread is in now, where it stays. */
export function openNetlinkSocket(options: {
  groups: number;
  receiveBufferBytes: number;
  protocol?: keyof typeof netlinkProtocols;
}): KernelSocket {
  const c = libc();
  const protocol = netlinkProtocols[options.protocol ?? "route"];
  const fd = c.socket(addressFamilyNetlink, rawNonBlockingCloseOnExec, protocol);
  if (fd < 0) throw failedCall("socket", "no netlink socket");
  setOption(fd, solNetlink, extAck, 1);
  setOption(fd, solNetlink, capAck, 1);
  setOption(fd, solNetlink, strictCheck, 1); // older kernels ignore filters: netlink/dump.ts filters, too
  // More than the system's limit is for root; without it, what the limit allows.
  if (!setOption(fd, solSocket, receiveBufferForce, options.receiveBufferBytes)) {
    setOption(fd, solSocket, receiveBuffer, options.receiveBufferBytes);
  }
  if (c.bind(fd, netlinkAddress(options.groups), 12) < 0) {
    const error = failedCall("bind", "the netlink socket cannot be bound");
    c.close(fd);
    throw error;
  }
  return new FfiNetlinkSocket(fd);
}

class FfiNetlinkSocket implements KernelSocket {
  readonly #fd: number;
  readonly #toKernel = netlinkAddress(0);
  #readiness: Readiness | undefined; // most sockets are only asked and answered, and never wait
  #isClosed = false;

  constructor(fd: number) {
    this.#fd = fd;
  }

  send(bytes: Uint8Array): void {
    this.#checkOpen();
    const sent = libc().sendto(this.#fd, bytes, BigInt(bytes.length), 0, this.#toKernel, this.#toKernel.length);
    if (sent !== BigInt(bytes.length)) throw failedCall("sendto", "the kernel did not take a netlink request");
  }

  receive(into: Uint8Array): Received {
    this.#checkOpen();
    const c = libc();
    const length = c.recv(this.#fd, into, BigInt(into.length), dontWaitAndTellLength);
    if (length >= 0n) return Number(length);
    const errno = c.errno();
    if (errno === EAGAIN || errno === EINTR) return "nothing";
    if (errno === ENOBUFS) return "overrun";
    throw failedCall("recv", "netlink cannot be read");
  }

  wait(): Promise<void> {
    this.#checkOpen();
    this.#readiness ??= readinessOf(this.#fd);
    return this.#readiness.wait();
  }

  wake(): void {
    this.#readiness?.wake();
  }

  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#readiness?.[Symbol.dispose]();
    libc().close(this.#fd);
  }

  // A closed descriptor's number soon belongs to another file: it must not be used again.
  #checkOpen(): void {
    if (this.#isClosed) throw new Error("this netlink socket is closed");
  }
}

function netlinkAddress(groups: number): Uint8Array {
  const address = new Uint8Array(12);
  const view = new DataView(address.buffer);
  view.setUint16(0, addressFamilyNetlink, true);
  view.setUint32(8, groups, true);
  return address;
}

function setOption(fd: number, level: number, option: number, value: number): boolean {
  const bytes = new Uint8Array(new Int32Array([value]).buffer);
  return libc().setsockopt(fd, level, option, bytes, 4) === 0;
}
