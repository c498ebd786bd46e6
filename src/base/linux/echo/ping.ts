// Pings, from any network namespace and with any source address, without the program of that name: what answers, how fast, and in whose
// words somebody refuses.
import { performance } from "node:perf_hooks";
import { openEchoSocket } from "../ffi/echo-socket.ts";
import { inNamespace } from "../namespaces/network-namespace.ts";
import { ipBytes } from "../netlink/messages/ip-bytes.ts";
import { type Refusal, readEchoAnswer, writeEchoRequest } from "./messages.ts";

export type PingOptions = {
  /** The path of the network namespace to ping from. */
  readonly namespace?: string | undefined;
  readonly from?: string | undefined;
  readonly count?: number;
  readonly intervalMs?: number;
  /** How long to wait for the answer to the last one. */
  readonly timeoutMs?: number;
  /** Without headers: 1472 fill a packet of 1500 bytes of IPv4. */
  readonly payloadBytes?: number;
  /** A packet that is too long for a link is refused there, and not cut up. */
  readonly dontFragment?: boolean;
  /** So many machines may pass it on, this one not counted: with 1 the first says "time exceeded" of what is not its own. */
  readonly hops?: number | undefined;
  /** Ends it at once. */
  readonly signal?: AbortSignal | undefined;
  /** Nothing more is sent; what is on its way has its time to be answered. */
  readonly enough?: AbortSignal | undefined;
};

export type Pinged = {
  readonly sent: number;
  readonly received: number;
  /** Of each reply, in order of arrival. */
  readonly roundTripsMs: readonly number[];
  /** When each of those that nobody answered was sent, in milliseconds since the first. */
  readonly unansweredMs: readonly number[];
  /** Each kind once. */
  readonly refusals: readonly (Refusal | { readonly is: "not sent"; readonly errno: string })[];
};

let lastId = process.pid & 0xffff;

export async function ping(to: string, options: PingOptions = {}): Promise<Pinged> {
  const { intervalMs = 200, timeoutMs = 1_000, payloadBytes = 56, dontFragment = false, signal, enough } = options;
  let { count = 3 } = options;
  const target = ipBytes(to);
  const family = target.family === "inet" ? 4 : 6;
  const from = options.from === undefined ? undefined : ipBytes(options.from).bytes;
  const open = () => openEchoSocket(family, { from, dontFragment, hops: options.hops });
  using socket = options.namespace === undefined ? open() : inNamespace(options.namespace, open);
  lastId = (lastId + 1) & 0xffff;
  const id = lastId;
  const sentAt = new Map<number, number>();
  const roundTripsMs: number[] = [];
  const refusals = new Map<string, Pinged["refusals"][number]>();
  const refuse = (refusal: Pinged["refusals"][number]) => refusals.set(JSON.stringify(refusal), refusal);
  const buffer = new Uint8Array(65_536);

  const readAll = (): void => {
    for (let length = socket.receive(buffer); length !== undefined; length = socket.receive(buffer)) {
      const heard = readEchoAnswer(family, buffer.subarray(0, length), { hasIpHeader: socket.isRaw });
      if (heard === undefined || (socket.isRaw && heard.id !== id)) continue;
      const since = sentAt.get(heard.sequence);
      if (since === undefined) continue; // somebody else's, or told before
      sentAt.delete(heard.sequence);
      if (heard.is === "refused") refuse(heard.why);
      else roundTripsMs.push(performance.now() - since);
    }
  };

  let sent = 0;
  const startedMs = performance.now();
  let endMs = startedMs + timeoutMs;
  const endSending = (): void => {
    count = sent;
    socket.wake();
  };
  if (enough?.aborted === true) endSending();
  enough?.addEventListener("abort", endSending, { once: true });
  while (!(signal?.aborted ?? false)) {
    const nowMs = performance.now();
    if (sent < count && nowMs >= startedMs + sent * intervalMs) {
      const errno = socket.send(writeEchoRequest(family, { id, sequence: sent, payloadBytes }), target.bytes);
      if (errno === undefined) sentAt.set(sent, performance.now());
      else refuse({ is: "not sent", errno });
      sent += 1;
      endMs = performance.now() + timeoutMs;
    }
    readAll();
    const isAllHeard = sent === count && sentAt.size === 0;
    if (isAllHeard || (sent === count && performance.now() >= endMs)) break;
    const nextMs = sent < count ? startedMs + sent * intervalMs : endMs;
    const timer = setTimeout(() => socket.wake(), Math.max(1, nextMs - performance.now()));
    await socket.wait();
    clearTimeout(timer);
  }
  enough?.removeEventListener("abort", endSending);
  const unansweredMs = [...sentAt.values()].map((at) => at - startedMs);
  return { sent, received: roundTripsMs.length, roundTripsMs, unansweredMs, refusals: [...refusals.values()] };
}
