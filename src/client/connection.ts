// One connection to one server, from dial to close: bytes through the client machine, its answers back on the socket.
// Nothing is read from the socket while the consumer is busy, so a slow consumer slows the server down, not the heap.
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { zstdDecompressSync } from "node:zlib";
import { CattailError, type Clock } from "../lib/index.ts";
import {
  loadTlsMaterial,
  type PeerRequirement,
  type TlsFiles,
  tlsClientOptions,
  tlsPolicy,
} from "../security/index.ts";
import { type ClientEvent, ClientMachine, type ClientOptions } from "../wire/index.ts";
import type { ServerAddress } from "./server-address.ts";

/** Files, not their contents: they are read again for every connection, so renewed certificates are simply used. */
export type ClientTls = TlsFiles & { readonly server: PeerRequirement };

export type ConnectionOptions = {
  readonly hello: ClientOptions["hello"];
  readonly tls: ClientTls | undefined;
  readonly dialTimeoutMs: number;
  readonly readTimeoutMs: number;
  readonly writeTimeoutMs: number;
  readonly clock: Clock;
};

export async function dial(to: ServerAddress, options: ConnectionOptions, signal: AbortSignal): Promise<Socket> {
  const material = options.tls === undefined ? undefined : await loadTlsMaterial(options.tls);
  const target = { host: to.host, port: to.port };
  const socket =
    options.tls === undefined || material === undefined
      ? connectTcp(target)
      : connectTls({ ...target, ...tlsClientOptions(material, tlsPolicy({}), options.tls.server) });
  try {
    await opened(socket, material === undefined ? "connect" : "secureConnect", { ...options, to, signal });
    return socket.setNoDelay(true);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Batches of events, one per read. Ends when the conversation does; why is the last event. Leaving closes the socket. */
export async function* converse(
  socket: Socket,
  options: ConnectionOptions,
  signal: AbortSignal,
): AsyncGenerator<ClientEvent[]> {
  const { clock, hello, readTimeoutMs } = options;
  const zstdDecompress = (bytes: Uint8Array, maxBytes: number) =>
    zstdDecompressSync(bytes, { maxOutputLength: maxBytes });
  const machine = new ClientMachine({ hello, readTimeoutMs, zstdDecompress }, clock.monotonicMs());
  const stop = () => socket.destroy();
  signal.addEventListener("abort", stop, { once: true });
  try {
    await write(socket, machine.opening(), options);
    const chunks = socket[Symbol.asyncIterator]();
    for (;;) {
      const chunk = await nextChunk(chunks, options);
      if (chunk === "timeout") {
        yield machine.tick(Number.POSITIVE_INFINITY);
        return;
      }
      const events = chunk === "end" ? machine.end() : machine.receive(chunk, clock.monotonicMs());
      for (const event of events) if (event.is === "send") await write(socket, event.bytes, options);
      if (events.length > 0) yield events;
      if (events.at(-1)?.is === "close") return;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    socket.destroy();
  }
}

// The time a consumer takes is its own; only waiting for the server counts as the server's silence.
async function nextChunk(
  chunks: AsyncIterator<Buffer>,
  { clock, readTimeoutMs }: ConnectionOptions,
): Promise<Buffer | "end" | "timeout"> {
  const waiting = new AbortController();
  const silence = clock.sleep(readTimeoutMs, waiting.signal).then(
    () => "timeout" as const,
    () => "end" as const, // aborted below: the chunk won the race, and this answer is not looked at
  );
  const read = chunks.next().then(
    ({ done, value }) => (done ? ("end" as const) : value),
    () => "end" as const, // a reset is an end; the machine says at which point of the conversation
  );
  try {
    return await Promise.race([read, silence]);
  } finally {
    waiting.abort();
  }
}

function opened(
  socket: Socket,
  event: "connect" | "secureConnect",
  { to, signal, dialTimeoutMs }: { to: ServerAddress; signal: AbortSignal; dialTimeoutMs: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (problem: string, cause?: unknown) =>
      reject(
        new CattailError("CLIENT_DIAL", {
          problem: `no connection to ${to.host}:${to.port}: ${problem}`,
          next: `Check that the server listens there; "cattail doctor --server ${to.host}:${to.port}" explains the handshake step by step`,
          cause,
        }),
      );
    const timer = setTimeout(() => fail(`not open within ${dialTimeoutMs} ms`), dialTimeoutMs);
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    };
    socket.once(event, () => {
      settle();
      socket.off("error", onError);
      resolve();
    });
    const onError = (error: Error) => {
      settle();
      fail(error.message, error);
    };
    socket.once("error", onError);
  });
}

function write(socket: Socket, bytes: Uint8Array, { clock, writeTimeoutMs }: ConnectionOptions): Promise<void> {
  return new Promise((resolve) => {
    const waiting = new AbortController();
    // A server that takes nothing for this long is as good as gone: the read side then reports the end.
    clock.sleep(writeTimeoutMs, waiting.signal).then(
      () => socket.destroy(),
      () => undefined, // written in time
    );
    socket.write(bytes, () => {
      waiting.abort();
      resolve();
    });
  });
}
