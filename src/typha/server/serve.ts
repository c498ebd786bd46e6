// The listening half of the server: caches fed by the syncers' batches, threads that serve clients from them, the
// governor, and one pulse a second that hands metrics over and tidies up.

import { type Clock, type Log, limitRepeats, silentLog, systemClock } from "../../base/lib/index.ts";
import { createRefusalLog, type RefusalLog } from "../../base/security/index.ts";
import { type SyncerBatch, type SyncerType, syncerTypes } from "../../calico/model/basics.ts";
import { type CacheReader, KvCache, type LegacyForm, type Position } from "../cache/index.ts";
import {
  type ClientReport,
  type FanoutMetrics,
  noMetrics,
  Publisher,
  replay,
  sessionEnds,
  Tally,
  type WriteRecord,
} from "../fanout/index.ts";
import { createCodec, offeredStreams } from "./cache-codec.ts";
import { ConnectionGovernor } from "./connections/connection-governor.ts";
import { limitsWith, type ServerLimits, workerCount } from "./connections/server-limits.ts";
import { claimPort } from "./listening/claim-port.ts";
import type { TlsSetup } from "./listening/listener.ts";
import { writeAnswer } from "./peers/neighbour-protocol.ts";
import { startLocalThread } from "./threads/local-thread.ts";
import type { ServingThread } from "./threads/serving-thread.ts";
import { WorkerThread } from "./threads/worker-thread.ts";

export type ServeOptions = {
  /** An empty host is all addresses; port 0 is any free one. */
  readonly listen: { readonly host: string; readonly port: number };
  /** What the syncers say. Read until it ends; it may also be handed over with Server.apply(). */
  readonly batches?: AsyncIterable<SyncerBatch>;
  /** Absent: plain TCP. */
  readonly tls?: TlsSetup;
  readonly limits?: Partial<ServerLimits>;
  /** Threads that serve clients; 0: the main thread does. Default: one for each core but one, at least 1 and at most 8. */
  readonly workers?: number;
  readonly workerEntry?: URL;
  readonly legacyForm?: LegacyForm;
  /** Compressions to offer, most wanted first. */
  readonly compressions?: readonly ("zstd" | "snappy")[];
  readonly version?: string;
  /** Lines of lower levels are written nowhere, so that workers need not hand them over. */
  readonly leastLogged?: keyof Log;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly log?: Log;
  readonly metrics?: FanoutMetrics;
  /** What another server is told that asks which nodes this one has. Default: that it has none. */
  readonly answerNeighbour?: () => Promise<string>;
  readonly signal?: AbortSignal;
};

export type Server = AsyncDisposable & {
  readonly address: { readonly host: string; readonly port: number };
  /** Connections, handshaking ones included. */
  readonly activeCount: number;
  apply(batch: SyncerBatch): void;
  clients(): Promise<readonly ClientReport[]>;
  setMaxConnections(max: number): void;
  /** Asks one node that is not in the list to find another server; its name, or undefined where there is none left. */
  handOverNode(already: ReadonlySet<string>): Promise<string | undefined>;
  /** New handshakes use this; connections that exist stay. */
  setTlsMaterial(material: TlsSetup["material"]): void;
  /** Whether other servers may hand their clients to this one; they may until this says otherwise. */
  setFreshness(isFresh: boolean): void;
  /** What clients of the syncer are served, for those who only look. */
  cache(syncer: SyncerType): CacheReader | undefined;
  /** When what changed after the position was written to clients, a record per flush and thread. */
  writesSince(syncer: SyncerType, position: Position): Promise<readonly WriteRecord[]>;
  /** Keys that clients of the syncer are served. */
  cacheSize(syncer: SyncerType): number;
  /** Of the threads that serve clients, the one that has been silent longest: clients it accepted wait for ever. */
  readonly silentForMs: number;
  /** Stops listening and ends the connections over the shutdown time; resolves when all are gone. */
  shutdown(): Promise<void>;
};

const pulseMs = 1000;

export async function startServer(options: ServeOptions): Promise<Server> {
  const { clock = systemClock, random = Math.random, log = silentLog, metrics = noMetrics } = options;
  const limits = limitsWith(options.limits);
  const stopping = new AbortController();
  const signal = options.signal === undefined ? stopping.signal : AbortSignal.any([options.signal, stopping.signal]);
  const tally = new Tally();
  const threads: ServingThread[] = [];
  const sinks = new Set<ServingThread>();
  const publishers = createPublishers({ ...options, clock }, { limits, tally, sinks, signal });
  const { port } = await startThreads(
    { ...options, clock, log, random, metrics },
    { limits, publishers, tally, threads },
  );
  for (const thread of threads) sinks.add(thread);

  const governor = new ConnectionGovernor(limits.maxConnections, { ...limits, threads, clock, random, log, metrics });
  const loops = [governor.run(signal), pulse()];
  if (options.batches !== undefined) loops.push(pump(options.batches));
  let ending: Promise<void> | undefined;
  let wasFresh = true;
  log.info("listening", { ...options.listen, port, tls: options.tls !== undefined, workers: options.workers });

  async function pulse(): Promise<void> {
    try {
      for (;;) {
        await clock.sleep(pulseMs, signal);
        for (const publisher of publishers.values()) publisher.tidy();
        replay(tally.drain(), metrics);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async function pump(batches: AsyncIterable<SyncerBatch>): Promise<void> {
    try {
      for await (const batch of batches) {
        if (signal.aborted) return;
        publishers.get(batch.syncer)?.apply(batch);
      }
    } catch (error) {
      // Clients keep what they have; without syncers nothing new would ever come, so they are better off elsewhere.
      log.error("the syncers failed; the server stops", { problem: String(error) });
      void endOnce(stop);
    }
  }

  async function stop(): Promise<void> {
    stopping.abort(new Error("the server stops"));
    await Promise.all(threads.map((thread) => thread.stop()));
    await Promise.all(loops.slice(0, 2)); // the pump ends when its syncers do
    replay(tally.drain(), metrics);
  }

  async function shutDown(): Promise<void> {
    for (const thread of threads) thread.closeListener();
    await governor.empty(signal);
    await stop();
  }

  function endOnce(how: () => Promise<void>): Promise<void> {
    ending ??= how();
    return ending;
  }

  options.signal?.addEventListener("abort", () => void endOnce(stop), { once: true });
  return {
    address: { host: options.listen.host, port },
    get activeCount() {
      return governor.activeCount;
    },
    get silentForMs() {
      return Math.max(...threads.map((thread) => thread.silentForMs));
    },
    apply: (batch) => publishers.get(batch.syncer)?.apply(batch),
    clients: async () => (await Promise.all(threads.map((thread) => thread.reports()))).flat(),
    setMaxConnections: (max) => governor.setMax(max),
    handOverNode: (already) => governor.endNode(already, sessionEnds.handOver),
    setTlsMaterial(material) {
      for (const thread of threads) thread.setMaterial(material);
    },
    setFreshness(isFresh) {
      if (isFresh === wasFresh) return;
      wasFresh = isFresh;
      for (const thread of threads) thread.setFreshness(isFresh);
    },
    cache: (syncer) => publishers.get(syncer)?.reader,
    writesSince: async (syncer, position) =>
      (await Promise.all(threads.map((thread) => thread.writesSince(syncer, position)))).flat(),
    cacheSize: (syncer) => publishers.get(syncer)?.size ?? 0,
    shutdown: () => endOnce(shutDown),
    [Symbol.asyncDispose]: () => endOnce(stop),
  };
}

type Plumbing = { limits: ServerLimits; tally: Tally };

function createPublishers(
  options: ServeOptions & { clock: Clock },
  plumbing: Plumbing & { sinks: ReadonlySet<ServingThread>; signal: AbortSignal },
): Map<SyncerType, Publisher> {
  const { clock, legacyForm = (update) => update } = options;
  const { limits, tally, sinks, signal } = plumbing;
  const codec = createCodec(offeredStreams());
  return new Map(
    syncerTypes.map((syncer) => {
      const { maxMessageKvs } = limits;
      const cache = new KvCache({ codec, clock, legacyForm, limits: { maxMessageKvs } });
      const pace = { batchingAgeMs: limits.batchingAgeMs, messageUpdates: maxMessageKvs };
      return [syncer, new Publisher({ syncer, cache, clock, metrics: tally, ...pace, sinks, signal })];
    }),
  );
}

async function startThreads(
  options: ServeOptions & { clock: Clock; log: Log; random: () => number; metrics: FanoutMetrics },
  plumbing: Plumbing & { publishers: Map<SyncerType, Publisher>; threads: ServingThread[] },
): Promise<{ port: number }> {
  const { clock, log, random, metrics, tls, version = "", listen } = options;
  const { publishers, tally, threads } = plumbing;
  const preference = options.compressions ?? ["zstd", "snappy"];
  const workers = workerCount({ workers: options.workers ?? "auto" });
  const refusalLog = createRefusalLog({ log, clock });
  const refusals: RefusalLog = {
    report(refusal) {
      tally.add("cattail_connections_refused_total", refusal.check, 1);
      refusalLog.report(refusal);
    },
  };
  const { limits } = plumbing;
  const answerNeighbour = options.answerNeighbour ?? (async () => writeAnswer([]));
  if (workers === 0) {
    const streams = offeredStreams();
    const hub = { limits, clock, random, log, tally, streams, preference, version, worker: 0 };
    const rare = limitRepeats(log, { clock });
    const listener = {
      ...listen,
      tls,
      isFresh: true,
      log: rare,
      wallMs: () => clock.wallMs(),
      refuse: refusals.report,
      answerNeighbour,
    };
    const { thread, port } = await startLocalThread({ hub, publishers, listener });
    threads.push(thread);
    return { port };
  }
  await claimPort(listen);
  const shared = { ...limits, maxHandshaking: Math.ceil(limits.maxHandshaking / workers) };
  let { port } = listen;
  for (let number = 1; number <= workers; number += 1) {
    const setup = {
      number,
      listen: { ...listen, port },
      tls,
      isFresh: true,
      limits: shared,
      preference,
      version,
      leastLogged: options.leastLogged ?? "info",
    };
    const entry = options.workerEntry === undefined ? {} : { entry: options.workerEntry };
    const thread = new WorkerThread({
      ...{ setup, publishers, metrics, log, clock, refusals, answerNeighbour },
      ...entry,
    });
    threads.push(thread);
    try {
      port = await thread.start();
    } catch (error) {
      await Promise.all(threads.map((started) => started.stop()));
      throw error;
    }
  }
  return { port };
}
