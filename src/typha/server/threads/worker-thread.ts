// The main thread's end of one worker: answers its questions from the publishers, hands it flushes, and starts another in
// its place when it dies. Its clients then reconnect, to any of the threads; nobody else notices.
import { setImmediate as turnOfLoop } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import { CattailError, type Clock, type Log, limitRepeats, messageOf, settleWithin } from "../../../base/lib/index.ts";
import type { RefusalLog } from "../../../base/security/index.ts";
import type { SyncerType } from "../../../calico/model/basics.ts";
import type { Position, Snapshot, Variant } from "../../cache/index.ts";
import {
  type ClientReport,
  type FanoutMetrics,
  type Flush,
  type Publisher,
  replay,
  type TallyItem,
  type WriteRecord,
} from "../../fanout/index.ts";
import type { TlsSetup } from "../listening/listener.ts";
import { Mailbox } from "./mailbox.ts";
import type { ServingThread } from "./serving-thread.ts";
import type { FromWorker, SentSnapshot, ToWorker, WorkerSetup } from "./thread-messages.ts";
import { workerEntry } from "./worker-entry.ts";
import { flushCostMs, flushesWaiting, gaugeMemory } from "./worker-gauges.ts";

/** Flushes a worker may have in its queue; beyond it, it is sent positions without bytes. */
const mostFlushesWaiting = 64;
/** A worker's old generation is first collected when it is this large; after that V8 decides by what was left. V8 counts memory outside of its heap, too: 48 KB for each TLS connection. */
const firstCollectionMb = 128;
const restartDelayMs = 200;
/** For one that cannot listen: somebody else has the port, or there are no descriptors left. */
const retryDelayMs = 1000;
/** A worker that has not answered by then is done without: whoever asks serves an operator or ends the server. */
const answerMs = 2000;

export type WorkerThreadOptions = {
  readonly setup: Omit<WorkerSetup, "flushed" | "gauges">;
  readonly publishers: ReadonlyMap<SyncerType, Publisher>;
  readonly metrics: FanoutMetrics;
  readonly log: Log;
  readonly clock: Clock;
  readonly refusals: RefusalLog;
  readonly answerNeighbour: () => Promise<string>;
  /** Where the worker's program is; by default worker.ts beside this file. */
  readonly entry?: URL;
};

type Lease = { readonly publisher: Publisher; readonly snapshot: Snapshot };

export class WorkerThread implements ServingThread {
  readonly #options: WorkerThreadOptions;
  #setup: Omit<WorkerSetup, "flushed" | "gauges">;
  #worker: Worker | undefined;
  #isStopping = false;
  #isListenerClosed = false;
  #active = 0;
  #isReplacing = false;
  /** For what may go on for long. */
  readonly #repeatingLog: Log;
  #requests = 0;
  #leases = 0;
  readonly #waiting = new Map<number, (answer: FromWorker | undefined) => void>();
  readonly #held = new Map<number, Lease>();
  /** Snapshots that the worker has, by what they are called there. */
  readonly #sent = new Map<Snapshot, { readonly id: number; readonly syncer: SyncerType }>();
  readonly #variants = new Map<SyncerType, readonly Variant[]>();
  readonly #oldest = new Map<SyncerType, Position>();
  readonly #gauges = new Map<string, Extract<TallyItem, { is: "add" }>>();
  #flushesSent = 0;
  #heardAtMs = 0;
  #counters = gaugeMemory();
  readonly #mailbox = new Mailbox<ToWorker>((messages) => this.#worker?.postMessage(messages));

  constructor(options: WorkerThreadOptions) {
    this.#options = options;
    this.#repeatingLog = limitRepeats(options.log, { clock: options.clock });
    this.#setup = options.setup;
  }

  /** Resolves with the port once the worker listens. */
  async start(): Promise<number> {
    const entry = this.#options.entry ?? workerEntry();
    const flushed = new Map([...this.#options.publishers].map(([syncer, { flushed }]) => [syncer, flushed]));
    // For threads that begin from now on. V8 takes a heap of 10 MB for one that will not grow, and would go through all of it
    // a dozen times while a thousand clients connect, which is a tenth of what they cost (docs/performance.md).
    setFlagsFromString(`--initial-old-space-size=${firstCollectionMb}`);
    const worker = new Worker(entry, {
      workerData: { ...this.#setup, flushed, gauges: this.#counters } satisfies WorkerSetup,
      // Little that a worker allocates outlives a message; V8's default would let it gather 48 MB of garbage first.
      resourceLimits: { maxYoungGenerationSizeMb: 3 },
    });
    this.#mailbox.flush(); // what was said before is in `flushed`, or was for a worker that died
    this.#flushesSent = 0;
    this.#worker = worker;
    this.#heardAtMs = this.#options.clock.monotonicMs();
    const listening = Promise.withResolvers<number>();
    worker.on("message", (messages: readonly FromWorker[]) => {
      this.#heardAtMs = this.#options.clock.monotonicMs();
      for (const message of messages) {
        if (message.is === "listening") listening.resolve(message.port);
        else if (message.is === "cannotListen") listening.reject(new CattailError(message.code, message));
        else this.#hear(message);
      }
    });
    worker.on("error", (error) => {
      const { log } = this.#options;
      log.error("worker thread failed", { worker: this.#setup.number, problem: String(error) });
      listening.reject(error instanceof Error ? error : new Error(String(error)));
    });
    worker.on("exit", () => {
      listening.reject(new Error(`worker ${this.#setup.number} ended before it listened`));
      this.#noteExit(worker);
    });
    const port = await listening.promise;
    // Whoever replaces it must take the same port.
    this.#setup = { ...this.#setup, listen: { ...this.#setup.listen, port } };
    return port;
  }

  get activeCount(): number {
    return this.#active;
  }

  /** Its pulse comes four times a second. A worker that died counts from then until another is there. */
  get silentForMs(): number {
    return this.#options.clock.monotonicMs() - this.#heardAtMs;
  }

  variantsInUse(syncer: SyncerType): Iterable<Variant> {
    return this.#variants.get(syncer) ?? [];
  }

  oldestPosition(syncer: SyncerType): Position {
    return this.#oldest.get(syncer) ?? Number.POSITIVE_INFINITY;
  }

  flushCostMs(syncer: SyncerType): number {
    return flushCostMs(this.#counters, syncer);
  }

  take(syncer: SyncerType, flush: Flush): void {
    this.#flushesSent += 1;
    const isFull = flushesWaiting(this.#counters, this.#flushesSent) > mostFlushesWaiting;
    this.#post({ is: "flush", syncer, flush: isFull ? { ...flush, bytes: new Map() } : flush });
  }

  async reports(): Promise<readonly ClientReport[]> {
    const answer = await this.#ask((request) => ({ is: "report", request }));
    return answer?.is === "report" ? answer.clients : [];
  }

  async writesSince(syncer: SyncerType, since: Position): Promise<readonly WriteRecord[]> {
    const answer = await this.#ask((request) => ({ is: "askWrites", request, syncer, since }));
    return answer?.is === "writes" ? answer.writes : [];
  }

  async drop(ids: readonly bigint[], why: Parameters<ServingThread["drop"]>[1]): Promise<number> {
    const answer = await this.#ask((request) => ({ is: "drop", request, ids, why }));
    if (answer?.is !== "dropped") return 0;
    this.#active = answer.active;
    return answer.count;
  }

  setMaterial(material: TlsSetup["material"]): void {
    const { tls } = this.#setup;
    if (tls !== undefined) this.#setup = { ...this.#setup, tls: { ...tls, material } };
    this.#post({ is: "material", material });
  }

  setFreshness(isFresh: boolean): void {
    this.#setup = { ...this.#setup, isFresh };
    this.#post({ is: "freshness", isFresh });
  }

  closeListener(): void {
    this.#isListenerClosed = true;
    this.#post({ is: "closeListener" });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    const worker = this.#worker;
    if (worker === undefined) return;
    const exited = Promise.withResolvers<void>();
    worker.once("exit", () => exited.resolve());
    this.#post({ is: "stop" });
    // A worker that is stuck must not keep the process.
    const timer = setTimeout(() => void worker.terminate(), 2000);
    await exited.promise;
    clearTimeout(timer);
  }

  #post(message: ToWorker): void {
    this.#mailbox.post(message);
  }

  /** Undefined: it does not answer. One whose loop does not turn is not even asked, or each of many questions would wait. */
  async #ask(message: (request: number) => ToWorker): Promise<FromWorker | undefined> {
    if (this.silentForMs > answerMs) await turnOfLoop(); // it may be this thread that has not listened
    if (this.#worker === undefined || this.silentForMs > answerMs) return undefined;
    this.#requests += 1;
    const request = this.#requests;
    const { promise, resolve } = Promise.withResolvers<FromWorker | undefined>();
    this.#waiting.set(request, resolve);
    this.#post(message(request));
    let answer: FromWorker | undefined;
    const answered = promise.then((given) => {
      answer = given;
    });
    const waited = await settleWithin(answered, { clock: this.#options.clock, limitMs: answerMs });
    if (waited.is === "late") await turnOfLoop(); // the answer may be here, unheard
    this.#waiting.delete(request);
    return answer;
  }

  #hear(message: FromWorker): void {
    const { metrics, log, refusals } = this.#options;
    switch (message.is) {
      case "askSnapshot":
        this.#lend(message);
        return;
      case "release":
        this.#takeBack(message.lease);
        return;
      case "askChanges": {
        const changes = this.#publisher(message.syncer).changes(message.since, message.variant);
        this.#post({ is: "changes", request: message.request, changes });
        return;
      }
      case "variants":
        this.#variants.set(message.syncer, message.variants);
        return;
      case "pulse":
        this.#active = message.active;
        for (const [syncer, position] of message.oldest) this.#oldest.set(syncer, position);
        this.#rememberGauges(message.metrics);
        replay(message.metrics, metrics);
        return;
      case "report":
      case "writes":
      case "dropped":
        this.#waiting.get(message.request)?.(message);
        return;
      case "askNeighbourAnswer":
        void this.#answerNeighbour(message.request);
        return;
      case "refusal":
        refusals.report(message.refusal);
        return;
      case "log":
        log[message.level](message.message, message.fields);
        return;
      case "listening":
      case "cannotListen":
        return; // heard by start()
    }
  }

  async #answerNeighbour(request: number): Promise<void> {
    this.#post({ is: "neighbourAnswer", request, text: await this.#options.answerNeighbour() });
  }

  #lend(asked: Extract<FromWorker, { is: "askSnapshot" }>): void {
    const publisher = this.#publisher(asked.syncer);
    const snapshot = publisher.snapshot(asked.variant);
    // The client will need this variant from the next flush on; the worker says so itself only with its next pulse.
    const inUse = this.#variants.get(asked.syncer) ?? [];
    if (!inUse.includes(asked.variant)) this.#variants.set(asked.syncer, [...inUse, asked.variant]);
    this.#leases += 1;
    this.#held.set(this.#leases, { publisher, snapshot });
    const known = this.#sent.get(snapshot);
    const id = known?.id ?? this.#leases;
    const sent = known === undefined ? this.#onlyNews(snapshot, asked.syncer) : undefined;
    this.#post({ is: "snapshot", request: asked.request, lease: this.#leases, id, snapshot: sent });
    if (known !== undefined) return;
    this.#sent.set(snapshot, { id, syncer: asked.syncer });
    this.#forgetUnread();
  }

  #onlyNews(snapshot: Snapshot, syncer: SyncerType): SentSnapshot {
    const isAlike = ([sent, { syncer: of }]: [Snapshot, { syncer: SyncerType }]) =>
      of === syncer && sent.variant === snapshot.variant;
    const old = [...this.#sent].findLast(isAlike);
    if (old === undefined) return { ...snapshot, basis: undefined };
    const [earlier, { id: basis }] = old;
    const places = new Map(earlier.parts.map((part, place) => [part, place]));
    return { ...snapshot, basis, parts: snapshot.parts.map((part) => places.get(part) ?? part) };
  }

  #takeBack(number: number): void {
    const lease = this.#held.get(number);
    if (lease === undefined) return;
    this.#held.delete(number);
    // Its reader goes on from there, and the last pulse may not have counted it yet.
    const { syncer } = lease.publisher;
    this.#oldest.set(syncer, Math.min(this.oldestPosition(syncer), lease.snapshot.position));
    lease.publisher.release(lease.snapshot);
  }

  // Called when a new snapshot has been sent: older ones stay only with those who are reading them.
  #forgetUnread(): void {
    const read = new Set([...this.#held.values()].map(({ snapshot }) => snapshot));
    for (const [snapshot, { id }] of this.#sent) {
      if (read.has(snapshot)) continue;
      this.#sent.delete(snapshot);
      this.#post({ is: "forgetSnapshot", id });
    }
  }

  #publisher(syncer: SyncerType): Publisher {
    const publisher = this.#options.publishers.get(syncer);
    if (publisher === undefined) throw new Error(`no publisher for syncer ${syncer}`);
    return publisher;
  }

  #noteExit(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const number of [...this.#held.keys()]) this.#takeBack(number);
    for (const resolve of this.#waiting.values()) resolve(undefined);
    this.#waiting.clear();
    this.#sent.clear();
    this.#variants.clear();
    this.#oldest.clear();
    this.#counters = gaugeMemory();
    this.#forgetGauges();
    if (!this.#isStopping && !this.#isListenerClosed && !this.#isReplacing) void this.#replace();
  }

  #rememberGauges(items: readonly TallyItem[]): void {
    for (const item of items) {
      if (item.is !== "add") continue;
      if (item.name !== "typha_connections_active" && item.name !== "typha_connections_streaming") continue;
      const key = `${item.name} ${item.label ?? ""}`;
      this.#gauges.set(key, { ...item, value: item.value + (this.#gauges.get(key)?.value ?? 0) });
    }
  }

  // The gauges of a dead worker would otherwise stay up for ever.
  #forgetGauges(): void {
    for (const { name, label, value } of this.#gauges.values()) this.#options.metrics.add(name, label, -value);
    this.#gauges.clear();
    this.#active = 0;
  }

  /** Goes on until a worker listens; one that dies meanwhile begins no second round. */
  async #replace(): Promise<void> {
    const { clock } = this.#options;
    const log = this.#repeatingLog;
    const worker = this.#setup.number;
    log.error("worker thread died; starting another", { worker });
    this.#isReplacing = true;
    for (let delayMs = restartDelayMs; ; delayMs = retryDelayMs) {
      await clock.sleep(delayMs);
      if (this.#isStopping || this.#isListenerClosed) break;
      try {
        await this.start();
        break;
      } catch (error) {
        log.error("cannot replace worker; trying again", { worker, problem: messageOf(error) });
        await this.#worker?.terminate(); // it lives, but cannot listen
      }
    }
    this.#isReplacing = false;
  }
}
