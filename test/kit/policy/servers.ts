// Answers in every place of a lab: says who it is and whom it sees over TCP and UDP, and remembers which marked packets arrived where.
import { Poller, RawSocket } from "./sockets.ts";

const tcpPorts = [22, 53, 80, 443, 1000, 1001, 1002, 8080, 8081, 9090, 9091, 30080];
const udpPorts = [53, 68, 1000, 4789, 5000, 8080, 8081];
const rawProtocols = [4, 47, 132, 136];
const tokenBytes = 8;
const mostAtOnce = 256;
const text = new TextEncoder();

export type Arrival = { readonly place: string; readonly source: string };

export class Servers {
  readonly poller = new Poller();
  readonly #sockets = new Map<string, RawSocket[]>();
  readonly #arrived = new Map<string, Arrival>();
  readonly #waiting = new Map<string, () => void>();

  open(place: string, namespace: string, addresses: readonly string[]): void {
    const sockets: RawSocket[] = [];
    for (const address of addresses) {
      const family = address.includes(":") ? 6 : 4;
      const open = (kind: "stream" | "datagram" | "raw", protocol = 0) => {
        const socket = RawSocket.open(namespace, family, kind, protocol);
        sockets.push(socket);
        return socket;
      };
      for (const port of tcpPorts) {
        const socket = open("stream").option(1, 2, 1).bind(address, port).listen();
        this.poller.add(socket, { onReady: () => this.#accept(socket, place) });
      }
      for (const port of udpPorts) {
        const socket = open("datagram").option(1, 2, 1).bind(address, port);
        this.poller.add(socket, { onReady: () => this.#answer(socket, place) });
      }
      for (const protocol of [family === 4 ? 1 : 58, ...rawProtocols]) {
        const socket = open("raw", protocol).bind(address);
        this.poller.add(socket, { onReady: () => this.#note(socket, place) });
      }
    }
    this.#sockets.set(place, [...(this.#sockets.get(place) ?? []), ...sockets]);
  }

  close(place: string): void {
    for (const socket of this.#sockets.get(place) ?? []) this.#end(socket);
    this.#sockets.delete(place);
  }

  closeAll(): void {
    for (const place of [...this.#sockets.keys()]) this.close(place);
    this.poller.close();
  }

  /** Calls back when the token arrives somewhere. */
  expect(token: string, arrived: () => void): void {
    this.#waiting.set(token, arrived);
  }

  forget(token: string): void {
    this.#waiting.delete(token);
    this.#arrived.delete(token);
  }

  arrival(token: string): Arrival | undefined {
    return this.#arrived.get(token);
  }

  #accept(listener: RawSocket, place: string): void {
    for (const { socket, peer } of allOf(() => listener.accept())) {
      this.#sockets.get(place)?.push(socket);
      quietly(() => socket.send(text.encode(`${place} ${peer}\n`)));
      this.poller.add(socket, { onReady: () => this.#echo(socket, place) });
    }
  }

  #echo(socket: RawSocket, place: string): void {
    const got = quietly(() => socket.receive()) ?? "over";
    if (got !== "over" && got.bytes.length > 0) {
      quietly(() => socket.send(got.bytes));
      return;
    }
    this.#end(socket);
    const others = this.#sockets.get(place)?.filter((one) => one !== socket);
    if (others !== undefined) this.#sockets.set(place, others);
  }

  #answer(socket: RawSocket, place: string): void {
    for (const got of allOf(() => quietly(() => socket.receive()))) {
      this.#take(got.bytes.subarray(0, tokenBytes), { place, source: got.from });
      const answer = Buffer.concat([got.bytes, text.encode(`${place} ${got.from}\n`)]);
      quietly(() => socket.sendBack(answer, got.address));
    }
  }

  #note(socket: RawSocket, place: string): void {
    for (const got of allOf(() => quietly(() => socket.receive()))) {
      const body = socket.family === 4 ? got.bytes.subarray(((got.bytes[0] ?? 0) & 15) * 4) : got.bytes;
      // Where the token sits depends on the protocol.
      for (const at of [4, 8, 12, 16]) this.#take(body.subarray(at, at + tokenBytes), { place, source: got.from });
    }
  }

  #take(bytes: Uint8Array, arrival: Arrival): void {
    if (bytes.length !== tokenBytes || bytes[0] !== 0x74 || bytes[1] !== 0x6b) return;
    const token = Buffer.from(bytes).toString("hex");
    const wake = this.#waiting.get(token);
    if (wake === undefined) return;
    this.#arrived.set(token, arrival);
    wake();
  }

  #end(socket: RawSocket): void {
    if (socket.isClosed) return;
    this.poller.remove(socket);
    socket.close();
  }
}

/**
 * What is there now. One for each turn of the event loop is not enough: on a busy machine more come than there are turns, the socket's buffer runs
 * full, and from then on every answer is as late as the buffer is long (seen: 22 s), or there is none.
 */
function* allOf<T>(next: () => T | undefined): Generator<T> {
  for (let count = 0; count < mostAtOnce; count += 1) {
    const one = next();
    if (one === undefined) return;
    yield one;
  }
}

/** A peer that has gone is no fault of the server's. */
function quietly<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined; // told to the prober by what it sees
  }
}
