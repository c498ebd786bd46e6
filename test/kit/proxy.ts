// A TCP proxy between a client and a real server that does what networks do: cuts, freezes, delays, tears off in the
// middle of a message, forgets connections without telling, refuses.
import { once } from "node:events";
import { createServer, connect as dial, type Server, type Socket } from "node:net";

export type FaultProxy = AsyncDisposable & {
  readonly port: number;
  /** Connections open now. */
  readonly connections: number;
  /** How many were ever accepted. */
  readonly accepted: number;
  /** Ends every connection at once, with a reset. */
  cut(): void;
  /** Nothing passes in either direction, on old and new connections, until thaw. */
  freeze(): void;
  thaw(): void;
  /** Every chunk is passed on so much later. */
  delay(ms: number): void;
  /** Passes so many more bytes of answers on each connection, then cuts it. */
  truncate(bytes: number): void;
  /** What is open now never says another word, and is never closed; new connections work. */
  halfOpen(): void;
  /** New connections are reset at once, and old ones cut, until accept. */
  refuse(): void;
  accept(): void;
};

type Pair = { readonly client: Socket; readonly server: Socket; isDead: boolean; answerBytesLeft: number };

export async function startProxy(targetPort: number): Promise<FaultProxy> {
  const pairs = new Set<Pair>();
  let isFrozen = false;
  let isRefusing = false;
  let delayMs = 0;
  let accepted = 0;
  let onThaw: (() => void)[] = [];

  const listener: Server = createServer({ noDelay: true }, (client) => {
    accepted += 1;
    client.on("error", () => undefined); // a cut is an error to whoever is cut
    if (isRefusing) {
      reset(client);
      return;
    }
    const server = dial({ host: "127.0.0.1", port: targetPort, noDelay: true });
    server.on("error", () => client.destroy());
    const pair: Pair = { client, server, isDead: false, answerBytesLeft: Number.POSITIVE_INFINITY };
    pairs.add(pair);
    pump(pair, client, server, false);
    pump(pair, server, client, true);
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");

  function pump(pair: Pair, from: Socket, to: Socket, isAnswer: boolean): void {
    let turn: Promise<void> = Promise.resolve();
    from.on("data", (chunk: Buffer) => {
      from.pause(); // one chunk on the way at a time: order is kept, and nothing piles up
      turn = turn.then(async () => {
        if (await pass(pair, to, chunk, isAnswer)) from.resume();
      });
    });
    from.on("close", () => {
      if (pair.isDead) return;
      void turn.then(() => {
        pairs.delete(pair);
        to.destroy();
      });
    });
  }

  /** Whether the connection goes on. */
  async function pass(pair: Pair, to: Socket, chunk: Buffer, isAnswer: boolean): Promise<boolean> {
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    while (isFrozen) await new Promise<void>((resolve) => onThaw.push(resolve));
    if (pair.isDead || to.destroyed) return false;
    if (!isAnswer) return write(to, chunk);
    const part = chunk.subarray(0, Math.max(0, Math.min(chunk.length, pair.answerBytesLeft)));
    pair.answerBytesLeft -= part.length;
    await write(to, part);
    if (pair.answerBytesLeft > 0) return true;
    end(pair);
    return false;
  }

  function end(pair: Pair): void {
    pairs.delete(pair);
    reset(pair.client);
    reset(pair.server);
  }

  function thaw(): void {
    isFrozen = false;
    const waiting = onThaw;
    onThaw = [];
    for (const resume of waiting) resume();
  }

  const cut = () => {
    for (const pair of pairs) end(pair);
  };
  return {
    port: (listener.address() as { port: number }).port, // a TCP server's address has one
    get connections() {
      return pairs.size;
    },
    get accepted() {
      return accepted;
    },
    cut,
    freeze: () => {
      isFrozen = true;
    },
    thaw,
    delay: (ms) => {
      delayMs = ms;
    },
    truncate: (bytes) => {
      for (const pair of pairs) pair.answerBytesLeft = bytes;
    },
    halfOpen: () => {
      for (const pair of pairs) pair.isDead = true;
    },
    refuse: () => {
      isRefusing = true;
      cut();
    },
    accept: () => {
      isRefusing = false;
    },
    async [Symbol.asyncDispose]() {
      cut();
      thaw();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

// A socket that is just being shut down cannot be reset: Node would report EINVAL, keep its handle open for good, and spin
// when the process wants to end.
function reset(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}

function write(to: Socket, chunk: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    if (to.destroyed) return resolve(false);
    to.write(chunk, (error) => resolve(error === null || error === undefined));
  });
}
