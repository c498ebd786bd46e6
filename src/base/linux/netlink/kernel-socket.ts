// What everything above needs of a netlink socket. ffi/netlink-socket.ts is the real one; tests have one that plays recorded bytes.

/** A datagram's length, or that there is none now, or that the kernel had to drop some because nobody read them in time. */
export type Received = number | "nothing" | "overrun";

export type KernelSocket = Disposable & {
  send(bytes: Uint8Array): void;
  /** Never waits. A length beyond the buffer's means that the datagram was cut off. */
  receive(into: Uint8Array): Received;
  /** Resolves when there may be something to receive, or when wake() is called. */
  wait(): Promise<void>;
  wake(): void;
};
