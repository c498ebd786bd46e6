// A line on which everything from the server arrives late, as over a link that is far too small: what the demo's lagging
// node is connected by. The first seconds are quick, or no handshake would be done in time.
import { createConnection, createServer, type Socket } from "node:net";
import { systemClock } from "../../base/lib/index.ts";

type SlowLineOptions = {
  /** host:port */
  readonly to: string;
  readonly signal: AbortSignal;
};

const delayMs = 15_000;
const quickForMs = 3000;

/** A sender that goes on while this much is on its way is held back. */
const mostBytesOnTheWay = 8 * 1024 * 1024;

export async function startSlowLine(options: SlowLineOptions): Promise<AsyncDisposable & { address: string }> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const at = options.to.lastIndexOf(":");
    const far = createConnection({ host: options.to.slice(0, at), port: Number(options.to.slice(at + 1)) });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => other.destroy()); // the other end sees its connection end, which is what happened
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    near.pipe(far);
    delay(far, near, options);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    address: `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function delay(from: Socket, to: Socket, { signal }: SlowLineOptions): void {
  const startMs = performance.now();
  let onTheWay = 0;
  from.on("data", (bytes) => {
    onTheWay += bytes.length;
    if (onTheWay > mostBytesOnTheWay) from.pause();
    // Grows from nothing to the whole delay, so that nothing overtakes what was sent before it.
    const ageMs = performance.now() - startMs - quickForMs;
    systemClock.sleep(Math.min(delayMs, Math.max(0, ageMs)), signal).then(
      () => {
        onTheWay -= bytes.length;
        to.write(bytes);
        from.resume();
      },
      () => from.destroy(), // the demo ends
    );
  });
}
