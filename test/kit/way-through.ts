// Proxies as a company has them: HTTP with CONNECT (and a password), and SOCKS5. Whatever host they are asked for, they
// lead to this machine, so that a test can name hosts that do not exist.
import { createServer as createHttpServer, request } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export type WayThrough = AsyncDisposable & {
  /** host:port */
  readonly address: string;
  /** What it was asked for, by host and port or by URL. */
  readonly asked: string[];
};

const loopback = "127.0.0.1";

export async function startHttpProxy(options: { authorization?: string } = {}): Promise<WayThrough> {
  const asked: string[] = [];
  const isRefused = (given: string | undefined) =>
    options.authorization !== undefined && given !== `Basic ${btoa(options.authorization)}`;
  const server = createHttpServer((incoming, answer) => {
    asked.push(incoming.url ?? "");
    if (isRefused(incoming.headers["proxy-authorization"])) return void answer.writeHead(407).end();
    const { port, pathname, search } = new URL(incoming.url ?? "");
    const { method, headers } = incoming;
    const onward = request({ host: loopback, port, path: `${pathname}${search}`, method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(answer);
    });
    incoming.pipe(onward);
  });
  server.on("connect", (incoming, socket: Socket) => {
    asked.push(incoming.url ?? "");
    if (isRefused(incoming.headers["proxy-authorization"]))
      return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    join(socket, Number(incoming.url?.split(":").at(-1)), () => socket.write("HTTP/1.1 200 OK\r\n\r\n"));
  });
  return start(server, asked);
}

export async function startSocksProxy(): Promise<WayThrough> {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.once("data", () => {
      socket.write(Buffer.of(5, 0)); // version 5, no password
      socket.once("data", (wanted: Buffer) => {
        // Version, command, reserved, 3 for a name, its length, the name, the port.
        const length = wanted.readUInt8(4);
        const port = wanted.readUInt16BE(5 + length);
        asked.push(`${wanted.toString("utf8", 5, 5 + length)}:${port}`);
        join(socket, port, () => socket.write(Buffer.of(5, 0, 0, 1, 0, 0, 0, 0, 0, 0)));
      });
    });
  });
  return start(server, asked);
}

function join(socket: Socket, port: number, onReady: () => void): void {
  const onward = connect(port, loopback, () => {
    onReady();
    socket.pipe(onward).pipe(socket);
  });
  // Either end may go first, and then the other has nobody to wait for.
  for (const [one, other] of [
    [socket, onward],
    [onward, socket],
  ] as const) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroySoon());
  }
}

async function start(server: Server, asked: string[]): Promise<WayThrough> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket.on("close", () => sockets.delete(socket))));
  await new Promise<void>((resolve) => server.listen(0, loopback, resolve));
  return {
    asked,
    address: `${loopback}:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
