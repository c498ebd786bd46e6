// Plays the writes of a golden case into the syncers, as their followers would, and keeps what a client would have seen:
// a small model of the snapshot cache, which drops an update that changes nothing but the revision.

import { silentLog } from "../../src/base/lib/index.ts";
import type { FollowEvent, ObjectId, Revision, StoredObject } from "../../src/calico/datastore/index.ts";
import type { Flavour, Kind } from "../../src/calico/kinds/index.ts";
import { type KvUpdate, type SyncerType, syncStatus, updateType } from "../../src/calico/model/index.ts";
import { createSyncerCore, feedsOf, type SyncerCore } from "../../src/calico/syncer/index.ts";
import { baseline } from "./golden-baseline.ts";
import {
  type ApiObject,
  type ExpectedEvent,
  type ExpectedKv,
  type GoldenCase,
  kindOf,
  type Write,
} from "./golden-case.ts";

export type SnapshotModel = {
  /** What the update makes a connected client see; undefined: nothing. */
  apply(update: KvUpdate): ExpectedKv | undefined;
  readonly kvs: ReadonlyMap<string, ExpectedKv>;
};

function createSnapshotModel(): SnapshotModel {
  const kvs = new Map<string, ExpectedKv>();
  const apply = (update: KvUpdate): ExpectedKv | undefined => {
    const kv: ExpectedKv = {
      key: update.path,
      value: update.value === undefined || update.value === "" ? null : update.value,
      revision: update.revision,
      v3rv: update.v3ResourceVersion,
      type: update.type,
    };
    if (update.value === undefined) {
      kvs.delete(kv.key);
      return kv;
    }
    const known = kvs.get(kv.key);
    if (known !== undefined && known.value === kv.value && kv.type === updateType.updated) return undefined;
    kvs.set(kv.key, { ...kv, type: updateType.new });
    return kv;
  };
  return { apply, kvs };
}

/** Syncers with a client connected to each. */
export type Replay = {
  /** What each client sees of these events. */
  feed(kind: Kind, events: readonly FollowEvent[]): ReadonlyMap<SyncerType, readonly ExpectedEvent[]>;
  snapshot(syncer: SyncerType): ReadonlyMap<string, ExpectedKv>;
  readonly core: SyncerCore;
};

export function createReplay(options: { flavour: Flavour; usePodCidr: boolean }): Replay {
  const core = createSyncerCore({ ...options, interfacePrefix: "", feeds: feedsOf(options), log: silentLog });
  const models = new Map<SyncerType, SnapshotModel>();
  const modelOf = (syncer: SyncerType) => {
    const model = models.get(syncer) ?? createSnapshotModel();
    models.set(syncer, model);
    return model;
  };
  const feed = (kind: Kind, events: readonly FollowEvent[]) => {
    const seen = new Map<SyncerType, ExpectedEvent[]>();
    for (const { syncer, updates, status } of core.apply(kind, events)) {
      const list = seen.get(syncer) ?? [];
      seen.set(syncer, list);
      for (const update of updates) {
        const kv = modelOf(syncer).apply(update);
        if (kv !== undefined) list.push({ kv });
      }
      if (status !== undefined) list.push({ status });
    }
    return seen;
  };
  return { feed, snapshot: (syncer) => modelOf(syncer).kvs, core };
}

/** Lists every kind, so that all syncers are in sync. */
export function startReplay(replay: Replay, objects: readonly { kind: Kind; object: StoredObject }[]): void {
  const byKind = Map.groupBy(objects, ({ kind }) => kind);
  for (const kind of replay.core.kinds) {
    const sets = (byKind.get(kind) ?? []).map(({ object }) => ({ is: "set", object, origin: "list" }) as const);
    const { resyncInProgress, inSync } = syncStatus;
    replay.feed(kind, [{ is: "status", status: resyncInProgress }, ...sets, { is: "status", status: inSync }]);
  }
}

export function stored(value: ApiObject): StoredObject {
  const revision = (value.metadata.resourceVersion ?? "") as Revision; // the memory of an API server: text as it came
  return { id: idOf(value), revision, value };
}

function idOf({ metadata }: ApiObject): ObjectId {
  return { namespace: metadata.namespace ?? "", name: metadata.name };
}

export function baselineObjects(): { kind: Kind; object: StoredObject }[] {
  return baseline.flatMap((object) => {
    const kind = kindOf(`${object.apiVersion} ${object.kind}`);
    return kind === undefined ? [] : [{ kind, object: stored(object) }];
  });
}

/** The write as a follower tells of it; undefined: refused, unchanged, or of no interest. */
export function writeToEvent(write: Write): { kind: Kind; event: FollowEvent } | undefined {
  const kind = kindOf(write.object);
  const { answer } = write;
  const isStatus = answer.kind === "Status";
  if (kind === undefined || (isStatus && write.op !== "delete")) return undefined;
  if (write.op === "finalize" || (write.op === "delete" && !outlivesDeletion(answer))) {
    return { kind, event: { is: "delete", id: idFromText(write.object) } };
  }
  return { kind, event: { is: "set", object: stored(answer), origin: "watch" } };
}

/** A pod in its grace period, and a namespace that is being emptied, are deleted by a later write. */
function outlivesDeletion({ kind, metadata, spec }: ApiObject): boolean {
  if (kind === "Status" || metadata.deletionTimestamp === undefined) return false;
  return (spec?.finalizers ?? []).length > 0 || (metadata.deletionGracePeriodSeconds ?? 0) > 0;
}

function idFromText(object: string): ObjectId {
  const [, , first = "", second] = object.split(" ");
  return second === undefined ? { namespace: "", name: first } : { namespace: first, name: second };
}

export function finalObjects(golden: GoldenCase): { kind: Kind; object: StoredObject }[] {
  const objects = new Map<string, { kind: Kind; object: StoredObject }>();
  const keyOf = (kind: Kind, { namespace, name }: ObjectId) => `${kind}/${namespace}/${name}`;
  for (const entry of baselineObjects()) objects.set(keyOf(entry.kind, entry.object.id), entry);
  for (const write of golden.writes) {
    const change = writeToEvent(write);
    if (change?.event.is === "set") {
      const { kind, event } = change;
      objects.set(keyOf(kind, event.object.id), { kind, object: event.object });
    } else if (change?.event.is === "delete") objects.delete(keyOf(change.kind, change.event.id));
  }
  return [...objects.values()];
}
