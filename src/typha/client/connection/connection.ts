// One conversation with one server, from hello to close: bytes through the client machine, its answers back on the
// socket.
import type { Socket } from "node:net";
import { zstdDecompressSync } from "node:zlib";
import type { Clock } from "../../../base/lib/index.ts";
import { type ClientEvent, ClientMachine, type ClientOptions } from "../../wire/index.ts";
import type { Arrivals } from "./arrivals.ts";
import { bufferMemory, bufferText } from "./buffer-text.ts";
import { Inbox } from "./inbox.ts";

export type ConversationOptions = {
  readonly hello: ClientOptions["hello"];
  readonly readTimeoutMs: number;
  readonly writeTimeoutMs: number;
  readonly clock: Clock;
  /** Those that the socket was opened with, if it was. */
  readonly arrivals?: Arrivals;
};

/** Batches of events, one per read. Ends when the conversation does; why is the last event. Leaving closes the socket. */
export async function* converse(
  socket: Socket,
  options: ConversationOptions,
  signal: AbortSignal,
): AsyncGenerator<ClientEvent[]> {
  const { clock, hello, readTimeoutMs } = options;
  const machine = new ClientMachine(
    { hello, readTimeoutMs, zstdDecompress, decodeText: bufferText, allocate: bufferMemory },
    clock.monotonicMs(),
  );
  const inbox = new Inbox(socket, clock, options.arrivals);
  const stop = () => socket.destroy();
  signal.addEventListener("abort", stop, { once: true });
  try {
    if (signal.aborted) return;
    await write(socket, machine.opening(), options);
    // Only waiting for the server counts as its silence: the time a consumer takes is the consumer's.
    let leftMs = readTimeoutMs;
    for (;;) {
      const askedMs = clock.monotonicMs();
      const chunk = await inbox.next(leftMs);
      const nowMs = clock.monotonicMs();
      const deadlineMs = machine.deadlineMs;
      const events = eventsOf(machine, chunk, nowMs);
      // The machine moves its deadline with every whole message; bytes that never become one do not count.
      leftMs = machine.deadlineMs === deadlineMs ? leftMs - (nowMs - askedMs) : readTimeoutMs;
      for (const event of events) if (event.is === "send") await write(socket, event.bytes, options);
      if (events.length > 0) yield events;
      if (events.at(-1)?.is === "close") return;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    inbox.close();
    socket.destroy();
  }
}

function eventsOf(machine: ClientMachine, chunk: Buffer | "end" | "timeout", nowMs: number): ClientEvent[] {
  if (chunk === "timeout") return machine.tick(Number.POSITIVE_INFINITY);
  return chunk === "end" ? machine.end() : machine.receive(chunk, nowMs);
}

function zstdDecompress(bytes: Uint8Array, maxBytes: number): Uint8Array {
  return zstdDecompressSync(bytes, { maxOutputLength: maxBytes });
}

const written = new Error("written"); // a reason made once: without one, abort() makes an exception with a stack

async function write(socket: Socket, bytes: Uint8Array, { clock, writeTimeoutMs }: ConversationOptions): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const waiting = new AbortController();
  // A server that takes nothing for this long is as good as gone: the read side then reports the end.
  clock.sleep(writeTimeoutMs, waiting.signal).then(
    () => socket.destroy(),
    () => undefined, // written in time
  );
  socket.once("close", resolve);
  socket.write(bytes, () => resolve());
  try {
    if (!socket.destroyed) await promise;
  } finally {
    waiting.abort(written);
    socket.off("close", resolve);
  }
}
