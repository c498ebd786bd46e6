// The syncers without the clockwork: events of one kind in, batches for the syncers out. Objects are converted once,
// whichever number of syncers want them (docs/decisions/0006-one-watch-per-kind.md).
//
//   FollowEvent[] of a kind --> processor --> announcer --> KvUpdate[] --+--> felix
//                                    \--> problem book                   +--> bgp, ...

import { type Log, unreachable } from "../../base/lib/index.ts";
import { objectName, type Processor, type ProcessorOutput } from "../convert/index.ts";
import type { FollowEvent, ObjectId, StoredObject } from "../datastore/index.ts";
import type { Kind } from "../kinds/index.ts";
import {
  type KvUpdate,
  type SyncerBatch,
  type SyncerType,
  type SyncStatus,
  syncerTypes,
  syncStatus,
} from "../model/index.ts";
import { type Announcer, createAnnouncer } from "./announce.ts";
import type { ConversionOptions, Feed } from "./feeds.ts";
import { mergeStatus } from "./merge-status.ts";
import { createProblemBook, type ProblemBook } from "./problems.ts";
import { type KindState, nodeCountOf, type SyncerStats } from "./stats.ts";
import { type Layer, StoredOverView } from "./stored-over-view.ts";

export type SyncerCore = {
  readonly kinds: readonly Kind[];
  /** Applies what one kind's follower said, in order. */
  apply(kind: Kind, events: readonly FollowEvent[]): SyncerBatch[];
  stats(): SyncerStats;
};

type Lane = {
  readonly feed: Feed;
  readonly processor: Processor;
  readonly announcer: Announcer;
  /** Of a kind whose keys may be another's. */
  readonly shared?: { readonly claims: StoredOverView; readonly as: Layer };
  readonly problems: ProblemBook;
  status: SyncStatus;
  sets: number;
  deletes: number;
};

type Merged = { readonly lanes: readonly Lane[]; status: SyncStatus };

type CoreOptions = ConversionOptions & { readonly feeds: readonly Feed[]; readonly log: Log };

export function createSyncerCore({ feeds, log, ...options }: CoreOptions): SyncerCore {
  const groups = new Map<string, Group>();
  const lanes = new Map<Kind, Lane>(feeds.map((feed) => [feed.kind, createLane(feed, { options, log, groups })]));
  const merged = new Map<SyncerType, Merged>(
    syncerTypes.map((syncer) => [syncer, { lanes: lanesOf(lanes, syncer), status: syncStatus.waitForDatastore }]),
  );
  let wasFelixInSync = false;

  const apply = (kind: Kind, events: readonly FollowEvent[]) => {
    const lane = lanes.get(kind);
    if (lane === undefined) return [];
    const batches: SyncerBatch[] = [];
    let updates: KvUpdate[] = [];
    const flush = () => {
      if (updates.length > 0) for (const batch of batchesOf(lane, updates)) batches.push(batch);
      updates = [];
    };
    for (const event of events) {
      if (event.is !== "status") {
        applyEvent(lane, event, updates, log);
        continue;
      }
      if (event.status === syncStatus.inSync) announceConstants(lane, updates);
      // A status never goes ahead of the key/values it covers.
      flush();
      lane.status = event.status;
      for (const { syncer } of lane.feed.syncers) {
        const status = mergedStatus(merged.get(syncer));
        if (status !== undefined) batches.push({ syncer, updates: [], status });
        if (syncer === "felix" && status === syncStatus.inSync) wasFelixInSync = true;
      }
    }
    flush();
    return batches;
  };

  const stats = (): SyncerStats => ({
    kinds: [...lanes.values()].map(kindState),
    problems: [...lanes.values()].flatMap((lane) => lane.problems.counts()),
    statuses: Object.fromEntries([...merged].map(([syncer, { status }]) => [syncer, status])),
    nodeCount: wasFelixInSync ? nodeCountOf(lanes.get("Node")?.announcer) : undefined,
    listProblems: (limit) => [...lanes.values()].flatMap((lane) => lane.problems.list(limit)).slice(0, limit),
  });

  return { kinds: [...lanes.keys()], apply, stats };
}

/** What kinds have in common that may claim the same keys. */
type Group = { readonly announcer: Announcer; readonly claims: StoredOverView };

function createLane(
  feed: Feed,
  { options, log, groups }: { options: ConversionOptions; log: Log; groups: Map<string, Group> },
): Lane {
  const { shares } = feed;
  const group = groups.get(shares?.name ?? "") ?? { announcer: createAnnouncer(), claims: new StoredOverView() };
  if (shares !== undefined) groups.set(shares.name, group);
  return {
    feed,
    processor: feed.createProcessor(options),
    announcer: group.announcer,
    ...(shares === undefined ? {} : { shared: { claims: group.claims, as: shares.as } }),
    problems: createProblemBook(feed.kind, log),
    status: syncStatus.waitForDatastore,
    sets: 0,
    deletes: 0,
  };
}

function lanesOf(lanes: ReadonlyMap<Kind, Lane>, syncer: SyncerType): readonly Lane[] {
  return [...lanes.values()].filter(({ feed }) => feed.syncers.some((fed) => fed.syncer === syncer));
}

/** The syncer's new status; undefined: as before. */
function mergedStatus(merged: Merged | undefined): SyncStatus | undefined {
  if (merged === undefined) return undefined;
  const status = mergeStatus(merged.lanes.map((lane) => lane.status));
  if (status === merged.status) return undefined;
  merged.status = status;
  return status;
}

type ObjectEvent = Exclude<FollowEvent, { is: "status" }>;

function applyEvent(lane: Lane, event: ObjectEvent, updates: KvUpdate[], log: Log): void {
  const id = event.is === "set" ? event.object.id : event.id;
  const output = convert(lane, event, log);
  const { shared, feed } = lane;
  const kvs =
    shared === undefined
      ? output.kvs
      : shared.claims.take(output.kvs, { kind: feed.kind, layer: shared.as, isSet: event.is === "set" });
  for (const kv of kvs) announce(lane, kv, updates);
  if (output.problems.length === 0 && lane.problems.size === 0) return;
  const key = `${id.namespace}/${id.name}`;
  if (event.is === "delete" && output.problems.length === 0) lane.problems.forget(key);
  else lane.problems.set(key, output.problems);
}

function convert(lane: Lane, event: ObjectEvent, log: Log): ProcessorOutput {
  const id = event.is === "set" ? event.object.id : event.id;
  try {
    switch (event.is) {
      case "set":
        lane.sets += 1;
        return convertObject(lane, event);
      case "delete":
        lane.deletes += 1;
        return lane.processor.delete(id);
      default:
        return unreachable(event);
    }
  } catch (error) {
    // Converters do not throw; were one to, it would cost its own object and nothing else.
    log.error("conversion failed", { kind: lane.feed.kind, object: objectName(lane.feed.kind, id), error });
    const rule = "must be convertible; this is a bug, please report it";
    return { kvs: takeBack(lane, id), problems: [problem(lane, id, rule)] };
  }
}

function convertObject(lane: Lane, { object, origin }: ObjectEvent & { is: "set" }): ProcessorOutput {
  if (object.problem !== undefined) return unreadable(lane, object);
  return lane.processor.set(object.id, object.revision, object.value, origin);
}

/** What cannot be read says nothing any more; that is what a fresh list would show, too. */
function unreadable(lane: Lane, object: StoredObject): ProcessorOutput {
  const rule = `must be readable: ${object.problem ?? "it is not"}`;
  return { kvs: lane.processor.delete(object.id).kvs, problems: [problem(lane, object.id, rule)] };
}

function takeBack(lane: Lane, id: ObjectId): ProcessorOutput["kvs"] {
  try {
    return lane.processor.delete(id).kvs;
  } catch {
    return []; // the fault that is being handled, met again
  }
}

function problem(lane: Lane, id: ObjectId, rule: string): ProcessorOutput["problems"][number] {
  return { object: objectName(lane.feed.kind, id), field: "", rule, effect: "deleted" };
}

function announce(lane: Lane, kv: ProcessorOutput["kvs"][number], updates: KvUpdate[]): void {
  const update = lane.announcer.announce(kv);
  if (update !== undefined) updates.push(update);
}

function announceConstants(lane: Lane, updates: KvUpdate[]): void {
  for (const kv of lane.feed.constant ?? []) announce(lane, kv, updates);
}

/** Syncers that want everything of a kind share the very same list. */
function batchesOf(lane: Lane, updates: readonly KvUpdate[]): SyncerBatch[] {
  const batches: SyncerBatch[] = [];
  for (const { syncer, wants } of lane.feed.syncers) {
    const wanted = wants === undefined ? updates : updates.filter(({ path }) => wants(path));
    if (wanted.length > 0) batches.push({ syncer, updates: wanted });
  }
  return batches;
}

function kindState(lane: Lane): KindState {
  return {
    kind: lane.feed.kind,
    syncers: lane.feed.syncers.map(({ syncer }) => syncer),
    status: lane.status,
    keys: lane.shared?.claims.count(lane.feed.kind) ?? lane.announcer.size,
    sets: lane.sets,
    deletes: lane.deletes,
  };
}
