// Runs the syncers: one follower per kind, each feeding every syncer that wants its kind, merged into one ordered stream.

import type { Clock, Log, Pace } from "../../base/lib/index.ts";
import {
  type Datastore,
  type FollowEvent,
  type FollowLimits,
  type FollowReport,
  follow,
  KindLog,
} from "../datastore/index.ts";
import type { Kind } from "../kinds/index.ts";
import { type SyncerBatch, type SyncerType, syncerTypes, syncStatus } from "../model/index.ts";
import { BatchQueue } from "./batch-queue.ts";
import { createSyncerCore } from "./core.ts";
import { feedsOf, feedsRead } from "./feeds.ts";
import type { SyncerStats } from "./stats.ts";

/** As many as the original's queue of results holds. */
const defaultMaxQueuedUpdates = 2000;

type SyncersOptions = {
  readonly datastore: Datastore;
  readonly clock: Clock;
  readonly log: Log;
  /** At least 0, below 1. */
  readonly random: () => number;
  /** Its abort ends the stream. */
  readonly signal: AbortSignal;
  readonly usePodCidr?: boolean;
  readonly interfacePrefix?: string;
  readonly passesFaulty?: boolean;
  readonly maxQueuedUpdates?: number;
  readonly limits?: Partial<FollowLimits>;
  /** What somebody will read; absent: everything. A kind that nobody reads is neither listed nor watched. */
  readonly isRead?: (syncer: SyncerType, kind: Kind) => boolean;
  /** How busy watches are read, each at a pace of its own; absent: as they speak. */
  readonly paceOf?: () => Pace;
};

/** One reader only. Leaving the loop, by break, throw or abort, ends all followers. */
export type Syncers = AsyncIterable<SyncerBatch> & {
  stats(): SyncerStats;
  /** How each kind's list and watch are doing. */
  reports(): readonly FollowReport[];
};

export function runSyncers(options: SyncersOptions): Syncers {
  const { datastore, log, usePodCidr = false, interfacePrefix = "", passesFaulty = false } = options;
  const { flavour, holdsEveryKind } = datastore;
  const feeds = feedsRead(feedsOf({ flavour, usePodCidr, holdsEveryKind }), options.isRead ?? (() => true));
  const core = createSyncerCore({ flavour, usePodCidr, interfacePrefix, passesFaulty, feeds, log });
  const leaving = new AbortController();
  const signal = AbortSignal.any([options.signal, leaving.signal]);
  const { clock, random, limits = {} } = options;
  const kindLog = new KindLog({ log, clock, signal });
  const followers = new Map(
    core.kinds.map((kind) => [kind, follow(datastore, kind, { clock, log, kindLog, random, signal, limits })]),
  );
  const queue = new BatchQueue(options.maxQueuedUpdates ?? defaultMaxQueuedUpdates);

  const pump = async (kind: Kind, events: AsyncIterable<readonly FollowEvent[]>) => {
    const pace = options.paceOf?.();
    for await (const batch of events) {
      for (const out of core.apply(kind, batch)) queue.push(out);
      await queue.room();
      if (isOfWatch(batch)) await pace?.rest(signal);
    }
  };

  const pumpAll = async () => {
    try {
      await Promise.all([...followers].map(([kind, follower]) => pump(kind, follower)));
      queue.close();
    } catch (error) {
      queue.fail(error);
    }
  };

  async function* read(): AsyncGenerator<SyncerBatch, void, undefined> {
    for (const syncer of syncerTypes) yield { syncer, updates: [], status: syncStatus.waitForDatastore };
    const pumping = pumpAll();
    try {
      for (let batch = await queue.take(); batch !== undefined; batch = await queue.take()) {
        if (signal.aborted) return;
        yield batch;
      }
    } finally {
      leaving.abort();
      queue.close();
      await pumping;
    }
  }

  return {
    [Symbol.asyncIterator]: read,
    stats: core.stats,
    reports: () => [...followers.values()].map(({ report }) => report),
  };
}

/** Pages of a list come as fast as they are read, and somebody waits for their end. */
function isOfWatch(batch: readonly FollowEvent[]): boolean {
  return batch.every((event) => event.is === "delete" || (event.is === "set" && event.origin === "watch"));
}
