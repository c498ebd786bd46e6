// Tries flows side by side, as the recordings' own prober does: allow is an answer (or an arrival), deny is silence, reject a refusal.
import { randomBytes } from "node:crypto";
import type { ProbedFlow } from "./flow.ts";
import type { Servers } from "./servers.ts";
import { RawSocket, Refused } from "./sockets.ts";

export type Whereabouts = { readonly namespace: string; readonly source: string; readonly target: string };
export type Resolve = (flow: ProbedFlow) => Whereabouts;

const refusals = ["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EACCES", "ECONNRESET"];

/** One try of one flow. */
export class Probe {
  readonly flow: ProbedFlow;
  outcome: string | undefined;
  /** Whether a packet of it reached a socket of the other side, answered or not (UDP, and what is sent raw). */
  hasArrived = false;
  /** The number of the datagram that was answered; 0 as long as none was, or where packets carry no number. */
  answered = 0;
  readonly #servers: Servers;
  readonly #token = Buffer.concat([Buffer.from("tk"), randomBytes(6)]);
  readonly #done: () => void;
  #socket: RawSocket | undefined;
  #send: (() => void) | undefined;
  #isOneWay = false;
  #sent = 0;
  #heard = "";

  constructor(flow: ProbedFlow, at: Whereabouts, servers: Servers, done: () => void) {
    this.flow = flow;
    this.#servers = servers;
    this.#done = done;
    this.#try(() => this.#begin(at));
  }

  /** One more datagram, should the first have met a cold neighbour entry. */
  again(): void {
    if (this.outcome === undefined && this.#send !== undefined) this.#try(this.#send);
  }

  /** How often the kernel had to ask again before TCP was connected: of those packets, or of their answers, each was lost. */
  get retransmissions(): number {
    return this.flow.protocol === "tcp" && this.#socket?.isClosed === false ? this.#socket.retransmissions() : 0;
  }

  close(): void {
    this.#servers.forget(this.#token.toString("hex"));
    if (this.#socket === undefined || this.#socket.isClosed) return;
    this.#servers.poller.remove(this.#socket);
    this.#socket.close();
  }

  #begin({ namespace, source, target }: Whereabouts): void {
    const { protocol, family, port, sourcePort } = this.flow;
    if (protocol === "tcp") {
      const socket = this.#open(namespace, "stream");
      socket.option(1, 13, 1, 0).option(1, 2, 1).bind(source, sourcePort).connect(target, port);
      this.#servers.poller.add(socket, { onReady: () => this.#connected(socket) }, "write");
      return;
    }
    if (protocol === "udp") {
      const socket = this.#open(namespace, "datagram");
      if (this.flow.source !== undefined) socket.option(family === 4 ? 0 : 41, family === 4 ? 19 : 75, 1);
      socket.option(1, 2, 1).bind(this.flow.source ?? source, sourcePort);
      this.#isOneWay = this.flow.source !== undefined || this.flow.isOneWay;
      if (!this.#isOneWay) socket.connect(target, port);
      this.#send = () => {
        this.#sent += 1;
        const bytes = Buffer.concat([this.#token, Buffer.from([this.#sent])]);
        if (this.#isOneWay) socket.sendTo(bytes, target, port);
        else socket.send(bytes);
      };
    } else {
      const number = protocol === "icmp" ? (family === 4 ? 1 : 58) : protocol === "sctp" ? 132 : port;
      const socket = this.#open(namespace, "raw", number).bind(source);
      this.#isOneWay = protocol !== "icmp" || this.flow.icmp !== undefined;
      const bytes = this.#rawBytes();
      this.#send = () => socket.sendTo(bytes, target);
    }
    const socket = this.#socket;
    if (socket !== undefined) this.#servers.poller.add(socket, { onReady: () => this.#receive(socket) });
    this.#servers.expect(this.#token.toString("hex"), () => this.#arrived());
    this.#send();
  }

  #open(namespace: string, kind: "stream" | "datagram" | "raw", protocol = 0): RawSocket {
    this.#socket = RawSocket.open(namespace, this.flow.family, kind, protocol);
    return this.#socket;
  }

  #rawBytes(): Uint8Array {
    const { protocol, family, icmp, port } = this.flow;
    if (protocol === "sctp") return sctpInit(40_000, port, this.#token);
    if (protocol !== "icmp") return Buffer.concat([Buffer.from([0, 0, 8, 0]), this.#token]);
    const { type, code } = icmp ?? { type: family === 4 ? 8 : 128, code: 0 };
    const bytes = Buffer.concat([
      Buffer.from([type, code, 0, 0]),
      this.#token.subarray(2, 4),
      Buffer.from([0, 1]),
      this.#token,
      Buffer.alloc(8),
    ]);
    if (family === 4) bytes.writeUInt16BE(checksum(bytes), 2);
    return bytes;
  }

  #connected(socket: RawSocket): void {
    const failure = socket.failure();
    if (failure !== undefined) this.#failed(failure);
    else this.#servers.poller.add(socket, { onReady: () => this.#receive(socket) });
  }

  #receive(socket: RawSocket): void {
    this.#try(() => {
      const got = socket.receive();
      if (got === undefined || this.outcome !== undefined) return;
      if (this.flow.protocol === "tcp") this.#receiveText(got.bytes);
      else if (this.flow.protocol === "icmp") this.#receiveIcmp(got.bytes);
      else if (this.#token.equals(got.bytes.subarray(0, 8))) {
        this.answered = got.bytes[8] ?? 0;
        this.#allow(Buffer.from(got.bytes.subarray(9)).toString().trim().split(" "));
      }
    });
  }

  #receiveText(bytes: Uint8Array): void {
    this.#heard += Buffer.from(bytes).toString();
    if (bytes.length === 0) this.#end("reject");
    else if (this.#heard.includes("\n")) this.#allow(this.#heard.trim().split(" "));
  }

  #receiveIcmp(bytes: Uint8Array): void {
    const { family } = this.flow;
    const body = Buffer.from(family === 4 ? bytes.subarray(((bytes[0] ?? 0) & 15) * 4) : bytes);
    if (body[0] === (family === 4 ? 0 : 129) && !this.#isOneWay && this.#token.equals(body.subarray(8, 16)))
      this.#allow([this.flow.to, "-"]);
    else if (body[0] === (family === 4 ? 3 : 1) && body.includes(this.#token)) this.#end("reject");
  }

  #arrived(): void {
    this.hasArrived = true;
    const arrival = this.#servers.arrival(this.#token.toString("hex"));
    if (arrival !== undefined && this.#isOneWay) this.#allow([arrival.place, arrival.source]);
  }

  #allow([place = "", source = ""]: readonly string[]): void {
    this.#end(this.flow.isSeen ? `allow ${place} sees ${source}` : "allow");
  }

  #failed(errno: string): void {
    this.#end(refusals.includes(errno) ? "reject" : errno === "EPERM" ? "deny" : `error ${errno}`);
  }

  #end(outcome: string): void {
    if (this.outcome !== undefined) return;
    this.outcome = outcome;
    if (this.#socket !== undefined && !this.#socket.isClosed) this.#servers.poller.remove(this.#socket);
    this.#done();
  }

  #try(act: () => void): void {
    try {
      act();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#failed(error.errno);
    }
  }
}

/** The outcome of each, by its text. */
export async function probe(
  flows: readonly ProbedFlow[],
  {
    resolve,
    servers,
    timeoutMs,
    triesOnce = false,
  }: {
    readonly resolve: Resolve;
    readonly servers: Servers;
    readonly timeoutMs: number;
    /** A second try would hide a gap. */
    readonly triesOnce?: boolean;
  },
): Promise<ReadonlyMap<string, string>> {
  const { promise, resolve: finish } = Promise.withResolvers<void>();
  let open = flows.length;
  const done = () => {
    open -= 1;
    if (open <= 0) finish();
  };
  const probes: Probe[] = [];
  for (const flow of flows) probes.push(new Probe(flow, resolve(flow), servers, done));
  const timers = [
    setTimeout(() => {
      if (!triesOnce) for (const one of probes) one.again();
    }, timeoutMs / 2),
    // A process that did not get its turn has answers waiting: they are read before it is over.
    setTimeout(() => setImmediate(() => setImmediate(finish)), timeoutMs),
  ];
  if (flows.length === 0) finish();
  await promise;
  for (const timer of timers) clearTimeout(timer);
  for (const one of probes) one.close();
  return new Map(probes.map(({ flow, outcome }) => [flow.text, outcome ?? "deny"]));
}

function checksum(bytes: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
  sum = (sum >> 16) + (sum & 0xffff);
  return ~(sum + (sum >> 16)) & 0xffff;
}

/** The token stands where the initiate tag begins. */
function sctpInit(sourcePort: number, port: number, token: Uint8Array): Uint8Array {
  const chunk = Buffer.concat([Buffer.from([1, 0, 0, 20]), token, Buffer.from([0, 1, 0, 1, 0, 0, 0, 7])]);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(sourcePort, 0);
  head.writeUInt16BE(port, 2);
  head.writeUInt32LE(crc32c(Buffer.concat([head, chunk])), 8);
  return Buffer.concat([head, chunk]);
}

function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return ~crc >>> 0;
}
