// Follow a Typha as Felix does: connect, take the snapshot, then every change; when the server goes away, go on with
// another as if nothing had happened. One consumer per call; leaving the loop closes the connection.
//
//   for await (const update of follow({ servers: "typha.example:5473", type: "felix", tls, signal })) …
import { hostname } from "node:os";
import { CattailError, type Clock, type Log, silentLog, systemClock } from "../lib/index.ts";
import { type SyncerType, syncStatus } from "../model/index.ts";
import type { ClientEvent, CloseReason } from "../wire/index.ts";
import { Attempts } from "./attempts.ts";
import { type ClientTls, type ConnectionOptions, converse, dial } from "./connection.ts";
import { KnownKeys } from "./known-keys.ts";
import { addressText, discoveryOf, type Servers } from "./server-address.ts";
import type { Update } from "./update.ts";

export type FollowOptions = {
  readonly servers: Servers;
  readonly type?: SyncerType;
  /** Absent: plain TCP, for a server that runs without TLS. */
  readonly tls?: ClientTls;
  readonly signal?: AbortSignal;
  /** What the server's operator sees of us. */
  readonly hostname?: string;
  readonly info?: string;
  readonly version?: string;
  /** In order of preference; an empty list asks for none. */
  readonly compression?: readonly ("zstd" | "snappy")[];
  readonly policyKeys?: "modern" | "legacy";
  readonly dialTimeoutMs?: number;
  readonly readTimeoutMs?: number;
  readonly writeTimeoutMs?: number;
  /** Consecutive failures after which it gives up; by default it never does. */
  readonly maxFailures?: number;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly log?: Log;
};

export async function* follow(options: FollowOptions): AsyncGenerator<Update> {
  for await (const batch of followBatches(options)) yield* batch;
}

/** The same in the batches they arrived in, which is cheaper where each update costs little. */
export async function* followBatches(options: FollowOptions): AsyncGenerator<Update[]> {
  const signal = options.signal ?? new AbortController().signal;
  const clock = options.clock ?? systemClock;
  const log = options.log ?? silentLog;
  const discover = discoveryOf(options.servers);
  const known = new KnownKeys();
  const attempts = new Attempts();
  let failures = 0;
  while (!signal.aborted) {
    let ended: unknown;
    try {
      const server = attempts.next(await discover(signal), clock.monotonicMs());
      if (server === undefined) throw noServers();
      const connection = connectionOptions(options, clock);
      const socket = await dial(server, connection, signal);
      log.info("Connected to server", { server: addressText(server) });
      known.reconnected();
      for await (const events of converse(socket, connection, signal)) {
        const batch = events.flatMap((event) => take(event, known));
        if (events.some((event) => event.is === "hello")) failures = 0;
        const close = events.find((event) => event.is === "close");
        if (close !== undefined) ended = closeError(close.why, addressText(server));
        if (batch.length > 0) yield batch;
      }
    } catch (error) {
      ended = error;
    }
    if (signal.aborted) return;
    failures += 1;
    if (options.maxFailures !== undefined && failures >= options.maxFailures) throw ended;
    log.warn("Connection lost; trying the next server", {
      failures,
      reason: String((ended as Error)?.message ?? ended),
    });
    yield [{ is: "status", status: syncStatus.waitForDatastore }];
    await clock.sleep(backoffMs(failures, options.random ?? Math.random), signal).catch(() => undefined);
  }
}

function take(event: ClientEvent, known: KnownKeys): Update[] {
  switch (event.is) {
    case "updates":
      return event.updates.flatMap((update) => known.take(update) ?? []);
    case "status":
      return [...(event.status === syncStatus.inSync ? known.settle() : []), { is: "status", status: event.status }];
    case "hello":
      return [{ is: "status", status: syncStatus.resyncInProgress }];
    default:
      return [];
  }
}

function connectionOptions(options: FollowOptions, clock: Clock): ConnectionOptions {
  const compression = options.compression ?? ["snappy"];
  const random = options.random ?? Math.random;
  return {
    hello: {
      hostname: options.hostname ?? hostname(),
      info: options.info ?? "cattail client",
      version: options.version ?? "",
      syncerType: options.type ?? "felix",
      supportsDecoderRestart: compression.length > 0,
      supportedCompressionAlgorithms: compression,
      supportsModernPolicyKeys: (options.policyKeys ?? "modern") === "modern",
      clientConnId: BigInt(Math.floor(random() * Number.MAX_SAFE_INTEGER)),
    },
    tls: options.tls,
    dialTimeoutMs: options.dialTimeoutMs ?? 10_000,
    readTimeoutMs: options.readTimeoutMs ?? 30_000,
    writeTimeoutMs: options.writeTimeoutMs ?? 10_000,
    clock,
  };
}

// The first retry is nearly at once, because most losses are a server that restarts and others that wait; a server that
// refuses us is not asked more than about once in ten seconds.
function backoffMs(failures: number, random: () => number): number {
  const ceiling = Math.min(10_000, 100 * 2 ** (failures - 1));
  return ceiling * (0.5 + random() / 2);
}

function closeError(why: CloseReason, server: string): CattailError {
  return new CattailError("CLIENT_CONNECTION_ENDED", {
    problem: `${server}: ${why.problem} (${why.code})`,
    next: "Look at the server's log for the same moment: it says why it closed the connection",
  });
}

function noServers(): CattailError {
  return new CattailError("CLIENT_NO_SERVERS", {
    problem: "no Typha server is known",
    next: "Name one with host:port, or check that the calico-typha Service has ready endpoints",
  });
}
