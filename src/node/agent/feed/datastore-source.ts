// Both data sets from the datastore itself, where no Typha is set: the syncers that a Typha runs, for one node. A watch cannot tell a quiet
// cluster from a dead connection, so one small question every few seconds tells whether the datastore is there.
import { type Clock, deadline, type Log, messageOf, Pace, passAbort } from "../../../base/lib/index.ts";
import type { Datastore } from "../../../calico/datastore/index.ts";
import { type SyncerBatch, syncStatus } from "../../../calico/model/basics.ts";
import type { Update } from "../../../typha/client/index.ts";
import { KnownKeys } from "../../../typha/client/parts.ts";
import type { DataSet } from "../../part/index.ts";
import { type FeedEvent, type FeedSource, pace } from "./feed.ts";

export type DatastoreSourceOptions = {
  readonly datastore: () => Promise<Datastore>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly usePodCidr: boolean;
  readonly interfacePrefix: string;
  readonly askEveryMs?: number;
};

const sets: readonly DataSet[] = ["felix", "bgp"];
/** The kind that says whether the datastore is ready, which is every data set's business (hold-while-not-ready.ts). */
const saysReady = "ClusterInformation";
type Told = { readonly set: DataSet; readonly events: readonly FeedEvent[] };

export function datastoreSource(options: DatastoreSourceOptions): FeedSource {
  const { clock, random, log, usePodCidr, interfacePrefix } = options;
  const known = new Map(sets.map((set) => [set, new KnownKeys(random)]));
  return {
    sets,
    async *open(signal, asked) {
      // Loaded late: a node that follows a Typha needs neither the schemas nor the conversions.
      const { runSyncers } = await import("../../../calico/syncer/index.ts");
      const datastore = await options.datastore();
      for (const keys of known.values()) keys.reconnected();
      const leaving = new AbortController();
      using _ = passAbort(signal, leaving);
      const ends = leaving.signal;
      const isRead = (syncer: string, kind: string) =>
        [...asked].some((set) => set === syncer) || (syncer === "felix" && kind === saysReady);
      const syncers = runSyncers({
        ...{ datastore, clock, log, random, usePodCidr, interfacePrefix, isRead, signal: ends },
        passesFaulty: true,
        paceOf: () => new Pace({ clock, ...pace }),
      });
      const contact = new Contact({ datastore, clock, random, everyMs: options.askEveryMs ?? 15_000 });
      yield* merge(read(syncers, known), contact.changes(ends), () => leaving.abort());
    },
  };
}

async function* read(
  batches: AsyncIterable<SyncerBatch>,
  known: ReadonlyMap<DataSet, KnownKeys>,
): AsyncGenerator<Told> {
  for await (const { syncer, updates, status } of batches) {
    const set = sets.find((one) => one === syncer);
    const keys = set === undefined ? undefined : known.get(set);
    if (set === undefined || keys === undefined) continue;
    const batch: Update[] = [];
    for (const { path, value, revision, v3ResourceVersion, type } of updates)
      keys.take({ key: path, value, revision, v3ResourceVersion, updateType: type, ttlNanos: 0n }, batch);
    if (status === syncStatus.inSync) keys.settle(batch);
    const events = batch.flatMap((update): FeedEvent[] => {
      if (update.is === "set") return [{ is: "set", path: update.path, value: update.value }];
      return update.is === "delete" ? [{ is: "delete", path: update.path }] : [];
    });
    if (status === syncStatus.inSync) events.push({ is: "in sync" });
    if (events.length > 0) yield { set, events };
  }
}

type ContactOptions = {
  readonly datastore: Datastore;
  readonly clock: Clock;
  /** Nodes that start together do not ask together. */
  readonly random: () => number;
  readonly everyMs: number;
};

/** Whether the datastore answers. */
class Contact {
  readonly #options: ContactOptions;

  constructor(options: ContactOptions) {
    this.#options = options;
  }

  /** Told when it stops answering, and when it answers again. Watches then bring what has changed by themselves. */
  async *changes(signal: AbortSignal): AsyncGenerator<Told> {
    const { clock, random, everyMs } = this.#options;
    let isAway = false;
    while (!signal.aborted) {
      await clock.sleep(everyMs * (0.5 + random()), signal).catch(() => undefined); // aborted: the loop ends
      if (signal.aborted) return;
      const problem = await this.#ask(signal);
      if (signal.aborted || (problem !== undefined) === isAway) continue;
      isAway = problem !== undefined;
      const event: FeedEvent =
        problem === undefined ? { is: "back" } : { is: "cut off", why: `the datastore does not answer: ${problem}` };
      for (const set of sets) yield { set, events: [event] };
    }
  }

  async #ask(signal: AbortSignal): Promise<string | undefined> {
    const { datastore, clock } = this.#options;
    using limit = deadline(signal, 5000, clock);
    try {
      await datastore.get("ClusterInformation", { namespace: "", name: "default" }, { signal: limit.signal });
      return undefined;
    } catch (error) {
      if (limit.isOver) return "no answer within 5 s";
      const { isDatastoreError } = await import("../../../calico/datastore/index.ts"); // it is loaded, somebody opened one
      return isDatastoreError(error, "unavailable") || !isDatastoreError(error) ? messageOf(error) : undefined;
    }
  }
}

/** Whatever comes first of two streams; ends with the first of them. */
async function* merge(
  first: AsyncGenerator<Told>,
  second: AsyncGenerator<Told>,
  leave: () => void,
): AsyncGenerator<Told> {
  const next = (from: AsyncGenerator<Told>) => from.next().then((result) => ({ from, result }));
  const waiting = new Map([first, second].map((from) => [from, next(from)]));
  try {
    for (;;) {
      const { from, result } = await Promise.race(waiting.values());
      if (result.done === true) {
        if (from === first) return;
        waiting.delete(from);
        continue;
      }
      waiting.set(from, next(from));
      yield result.value;
    }
  } finally {
    leave(); // or both would wait for what is next
    await Promise.allSettled([first.return(undefined), second.return(undefined)]);
  }
}
