// The entry of a worker thread: a listener on the shared port, a hub, and broadcasts whose source is the main thread.
import { parentPort, workerData } from "node:worker_threads";
import { CattailError, type Log, limitRepeats, systemClock } from "../../../base/lib/index.ts";
import { type SyncerType, syncerTypes } from "../../../calico/model/basics.ts";
import type { Position, Snapshot, Variant } from "../../cache/index.ts";
import { type BroadcastSource, type CatchUp, type Flush, Hub, Tally } from "../../fanout/index.ts";
import { offeredStreams } from "../cache-codec.ts";
import { Listener } from "../listening/listener.ts";
import { BorrowedSnapshots } from "./borrowed-snapshots.ts";
import { Mailbox } from "./mailbox.ts";
import type { FromWorker, SentSnapshot, ToWorker, WorkerSetup } from "./thread-messages.ts";
import { noteFlushTaken } from "./worker-gauges.ts";

const pulseMs = 250;

const setup = workerData as WorkerSetup; // worker-thread.ts is the only one that starts this file
const main = parentPort;
if (main === null) throw new Error("worker.ts is the entry of a worker thread and cannot be run by itself");

const mailbox = new Mailbox<FromWorker>((messages) => main.postMessage(messages));
const waiting = new Map<number, (answer: unknown) => void>();
let requests = 0;
const tally = new Tally();
const borrowed = new BorrowedSnapshots({
  ask: (syncer, variant) => ask((request) => post({ is: "askSnapshot", request, syncer, variant })),
  giveBack: (lease) => post({ is: "release", lease }),
  // The main thread counts those that it is asked for.
  noteReaders: (syncer, more) => tally.add("typha_snapshots_reused", syncer, more),
});
/** What the main thread has sent and may name again. */
const snapshots = new Map<number, Snapshot>();
const stopping = new AbortController();
const hub = new Hub({
  sources: new Map(syncerTypes.map((syncer) => [syncer, sourceOf(syncer)])),
  limits: setup.limits,
  clock: systemClock,
  random: Math.random,
  log: postedLog(),
  tally,
  streams: offeredStreams(),
  preference: setup.preference,
  version: setup.version,
  worker: setup.number,
});
for (const [syncer, flushed] of setup.flushed) hub.broadcasts.get(syncer)?.startAt(flushed);
const listener = new Listener({
  ...setup.listen,
  hub,
  isShared: true,
  tls: setup.tls,
  isFresh: setup.isFresh,
  // Out of descriptors, every connection that waits would be a line.
  log: limitRepeats(postedLog(), { clock: systemClock }),
  wallMs: () => systemClock.wallMs(),
  refuse: (refusal) => post({ is: "refusal", refusal }),
  answerNeighbour: () => ask<string>((request) => post({ is: "askNeighbourAnswer", request })),
});

main.on("message", (messages: readonly ToWorker[]) => {
  for (const message of messages) obey(message);
});
const running = hub.run(stopping.signal);
let lastBusy = performance.eventLoopUtilization();
const toldVariants = new Map<SyncerType, string>();
const pulse = setInterval(() => beat(), pulseMs);
try {
  post({ is: "listening", port: await listener.listen() });
} catch (error) {
  if (!(error instanceof CattailError)) throw error;
  post({ is: "cannotListen", code: error.code, problem: error.problem, next: error.next });
}

function post(message: FromWorker): void {
  mailbox.post(message);
}

function obey(message: ToWorker): void {
  switch (message.is) {
    case "flush":
      hub.take(message.syncer, asBuffers(message.flush));
      noteFlushTaken(setup.gauges, message.syncer, hub.flushCostMs(message.syncer));
      return;
    case "snapshot": {
      if (message.snapshot !== undefined) {
        snapshots.set(message.id, wholeSnapshot(message.snapshot));
      }
      const snapshot = snapshots.get(message.id);
      answer(message.request, snapshot === undefined ? undefined : { snapshot, lease: message.lease });
      return;
    }
    case "forgetSnapshot":
      snapshots.delete(message.id);
      return;
    case "changes": {
      const { changes } = message;
      answer(message.request, changes === "forgotten" ? changes : { ...changes, bytes: asBuffer(changes.bytes) });
      return;
    }
    case "drop": {
      const count = hub.drop(message.ids, message.why);
      post({ is: "dropped", request: message.request, count, active: hub.activeCount });
      return;
    }
    case "report":
      post({ is: "report", request: message.request, clients: hub.reports() });
      return;
    case "askWrites": {
      const writes = hub.writesSince(message.syncer, message.since);
      post({ is: "writes", request: message.request, writes });
      return;
    }
    case "material":
      listener.setMaterial(message.material);
      return;
    case "freshness":
      listener.setFreshness(message.isFresh);
      return;
    case "neighbourAnswer":
      answer(message.request, message.text);
      return;
    case "closeListener":
      listener.close();
      return;
    case "stop":
      void stop();
  }
}

async function stop(): Promise<void> {
  listener.close();
  clearInterval(pulse);
  stopping.abort(new Error("the server stops"));
  await running;
  beat();
  mailbox.flush();
  main?.close();
}

// Once a flush is being made its variants are fixed, so the main thread hears of a new one as soon as there is one.
function beat(): void {
  const oldest = new Map<SyncerType, Position>();
  for (const [syncer, broadcast] of hub.broadcasts) {
    const variants = [...broadcast.variantsInUse];
    if (toldVariants.get(syncer) !== variants.join()) post({ is: "variants", syncer, variants });
    toldVariants.set(syncer, variants.join());
    oldest.set(syncer, broadcast.oldestPosition);
  }
  const busy = performance.eventLoopUtilization();
  tally.set("cattail_worker_connections", `${setup.number}`, hub.activeCount);
  tally.set(
    "cattail_worker_utilization",
    `${setup.number}`,
    performance.eventLoopUtilization(busy, lastBusy).utilization,
  );
  lastBusy = busy;
  post({ is: "pulse", active: hub.activeCount, oldest, metrics: tally.drain() });
}

function sourceOf(syncer: SyncerType): BroadcastSource {
  return {
    snapshot: (variant: Variant) => borrowed.borrow(syncer, variant),
    release: (snapshot) => borrowed.release(snapshot),
    changes: (since: Position, variant: Variant) =>
      ask<CatchUp | "forgotten">((request) => post({ is: "askChanges", request, syncer, since, variant })),
  };
}

function ask<Answer>(send: (request: number) => void): Promise<Answer> {
  requests += 1;
  const request = requests;
  const { promise, resolve } = Promise.withResolvers<Answer>();
  waiting.set(request, (value) => resolve(value as Answer)); // the main thread answers each question with its own kind
  send(request);
  return promise;
}

function answer(request: number, value: unknown): void {
  waiting.get(request)?.(value);
  waiting.delete(request);
}

// Wrapped once here, or a socket would wrap them anew for every client.
function asBuffers(flush: Flush): Flush {
  return { ...flush, bytes: new Map([...flush.bytes].map(([variant, bytes]) => [variant, asBuffer(bytes)])) };
}

function wholeSnapshot(sent: SentSnapshot): Snapshot {
  const basis = sent.basis === undefined ? undefined : snapshots.get(sent.basis);
  const parts = sent.parts.map((part) => {
    if (typeof part !== "number") return asBuffer(part);
    const known = basis?.parts[part];
    if (known === undefined) throw new Error(`part ${part} of snapshot ${sent.basis} is not here`);
    return known;
  });
  return { ...sent, parts };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function postedLog(): Log {
  const levels = ["debug", "info", "warn", "error"] as const;
  const at = (level: keyof Log): Log["info"] =>
    levels.indexOf(level) < levels.indexOf(setup.leastLogged)
      ? () => undefined
      : (message, fields) => post({ is: "log", level, message, fields });
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
