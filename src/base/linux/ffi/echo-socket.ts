// A socket that sends ICMP echo requests and hears what comes back: raw, which takes root, or else the kernel's socket for unprivileged pings.
import { constants } from "node:os";
import { failedCall, libc, SystemCallError } from "./libc.ts";
import { type Readiness, readinessOf } from "./readiness.ts";

const addressFamilies = { 4: 2, 6: 10 } as const;
const protocols = { 4: 1, 6: 58 } as const;
const [datagram, raw] = [2, 3];
const nonBlockingCloseOnExec = 0o4000 | 0o2000000;
const dontWait = 0x40;
// Level, option and value that set "do not fragment" and send whatever size one asks for, without looking at what the path took before.
const probeSizes = { 4: [0, 10, 3], 6: [41, 23, 3] } as const;
const hopLimits = { 4: [0, 2], 6: [41, 16] } as const;
const { EAGAIN, EINTR } = constants.errno;

export type EchoSocket = Disposable & {
  /** IPv4's raw sockets hand out the IP header; the kernel's ping sockets choose the id by themselves. */
  readonly isRaw: boolean;
  /** Undefined: sent. Else the errno's name: EMSGSIZE, ENETUNREACH, EPERM, ... */
  send(bytes: Uint8Array, to: Uint8Array): string | undefined;
  /** The length, or undefined where there is nothing now. What the kernel says of an earlier packet is passed over. */
  receive(into: Uint8Array): number | undefined;
  wait(): Promise<void>;
  wake(): void;
};

export type EchoSocketOptions = {
  /** The source address, as bytes. */
  readonly from: Uint8Array | undefined;
  readonly dontFragment: boolean;
  readonly hops: number | undefined;
};

/** In the network namespace that this thread is in now. */
export function openEchoSocket(family: 4 | 6, { from, dontFragment, hops }: EchoSocketOptions): EchoSocket {
  const c = libc();
  let isRaw = true;
  let fd = c.socket(addressFamilies[family], raw | nonBlockingCloseOnExec, protocols[family]);
  if (fd < 0) {
    isRaw = false;
    fd = c.socket(addressFamilies[family], datagram | nonBlockingCloseOnExec, protocols[family]);
  }
  if (fd < 0) throw failedCall("socket", "no socket for pings");
  const set = (level: number, option: number, value: number) =>
    c.setsockopt(fd, level, option, new Uint8Array(new Int32Array([value]).buffer), 4);
  const [sizesLevel, sizesOption, probe] = probeSizes[family];
  if (dontFragment) set(sizesLevel, sizesOption, probe);
  const [hopsLevel, hopsOption] = hopLimits[family];
  if (hops !== undefined) set(hopsLevel, hopsOption, hops);
  const source = from === undefined ? undefined : socketAddress(family, from);
  if (source !== undefined && c.bind(fd, source, source.length) < 0) {
    const error = failedCall("bind", "the address to ping from is not one of this machine");
    c.close(fd);
    throw error;
  }
  return new FfiEchoSocket(fd, family, isRaw);
}

class FfiEchoSocket implements EchoSocket {
  readonly isRaw: boolean;
  readonly #fd: number;
  readonly #family: 4 | 6;
  readonly #readiness: Readiness;
  #isClosed = false;

  constructor(fd: number, family: 4 | 6, isRaw: boolean) {
    this.#fd = fd;
    this.#family = family;
    this.isRaw = isRaw;
    this.#readiness = readinessOf(fd);
  }

  send(bytes: Uint8Array, to: Uint8Array): string | undefined {
    if (this.#isClosed) throw new Error("this socket is closed");
    const address = socketAddress(this.#family, to);
    const sent = libc().sendto(this.#fd, bytes, BigInt(bytes.length), 0, address, address.length);
    return sent >= 0n ? undefined : new SystemCallError("sendto", libc().errno()).code;
  }

  receive(into: Uint8Array): number | undefined {
    if (this.#isClosed) return undefined;
    for (let turn = 0; turn < 64; turn += 1) {
      const length = libc().recv(this.#fd, into, BigInt(into.length), dontWait);
      if (length >= 0n) return Number(length);
      const errno = libc().errno();
      if (errno === EAGAIN || errno === EINTR) return undefined;
      // Anything else is an error of a packet sent before (EHOSTUNREACH, EMSGSIZE, ...), told once and then gone.
    }
    return undefined;
  }

  wait(): Promise<void> {
    return this.#readiness.wait();
  }

  wake(): void {
    this.#readiness.wake();
  }

  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#readiness[Symbol.dispose]();
    libc().close(this.#fd);
  }
}

function socketAddress(family: 4 | 6, address: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(family === 4 ? 16 : 28);
  new DataView(bytes.buffer).setUint16(0, addressFamilies[family], true);
  bytes.set(address, family === 4 ? 4 : 8);
  return bytes;
}
