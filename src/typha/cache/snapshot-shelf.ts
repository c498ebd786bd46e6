// Finished snapshots, kept for the clients that are reading them and for those that come next. One is good for every
// client that connects within its first second or before anything changes; deltas then go on from its position.
// Bound: a variant has at most four snapshots that somebody still reads. With four slow readers on four old snapshots
// the newest of them serves whoever comes next, and the merged changes since then follow it. One that changes can no
// longer follow, or soon could not, serves nobody new and does not count: who is sent it would only have to come again. Of
// those, too, there may be only so many: beyond sixteen in all the newest serves everybody, whatever comes of it.

import type { Variant } from "./codec.ts";
import type { Position } from "./entry.ts";

const freshMs = 1000;
const mostVersions = 4;
const mostInAll = 16;

export type Snapshot = {
  readonly variant: Variant;
  /** Changes after this one are not in it. */
  readonly position: Position;
  readonly keys: number;
  /** To be sent one after the other. Snapshots share the parts that did not change between them. */
  readonly parts: readonly Uint8Array[];
  readonly bytes: number;
  /** Before compression. */
  readonly rawBytes: number;
};

/** Where the cache is: its newest change, the newest deletion it has forgotten, and how many there were so far. */
type Moment = {
  readonly head: Position;
  readonly horizon: Position;
  readonly deletions: number;
  readonly nowMs: number;
};

type Version = { readonly snapshot: Snapshot; readonly made: Moment; users: number; lastUsedMs: number };

export class SnapshotShelf {
  readonly #versions = new Map<Variant, Version[]>();

  /** A snapshot that may be handed out now, counted as used: at most so many deletions have come since it was made. */
  reuse(variant: Variant, at: Moment, mostDeletions: number): Snapshot | undefined {
    const canFollow = ({ snapshot, made }: Version) =>
      snapshot.position >= at.horizon && at.deletions - made.deletions <= mostDeletions;
    const all = this.#versions.get(variant) ?? [];
    const versions = inUse(all) < mostInAll ? all.filter(canFollow) : all;
    const newest = versions.at(-1);
    if (newest === undefined) return undefined;
    const isFresh = newest.snapshot.position === at.head || at.nowMs - newest.made.nowMs < freshMs;
    if (!isFresh && inUse(versions) < mostVersions) return undefined;
    newest.users += 1;
    newest.lastUsedMs = at.nowMs;
    return newest.snapshot;
  }

  /** Puts a new one on the shelf, used once. */
  put(snapshot: Snapshot, made: Moment): void {
    const kept = (this.#versions.get(snapshot.variant) ?? []).filter((version) => version.users > 0);
    kept.push({ snapshot, made, users: 1, lastUsedMs: made.nowMs });
    this.#versions.set(snapshot.variant, kept);
  }

  release(snapshot: Snapshot): void {
    const versions = this.#versions.get(snapshot.variant) ?? [];
    const version = versions.find((candidate) => candidate.snapshot === snapshot);
    if (version === undefined) return;
    version.users -= 1;
    if (version.users <= 0 && version !== versions.at(-1)) versions.splice(versions.indexOf(version), 1);
  }

  /** Lets go of what nobody has read for a while. */
  sweep(nowMs: number, idleMs: number): void {
    for (const [variant, versions] of this.#versions) {
      const kept = versions.filter((version) => version.users > 0 || nowMs - version.lastUsedMs < idleMs);
      if (kept.length === 0) this.#versions.delete(variant);
      else this.#versions.set(variant, kept);
    }
  }

  has(variant: Variant): boolean {
    return this.#versions.has(variant);
  }

  /** The oldest position that a reader of a snapshot may go on from. */
  get oldestPosition(): Position {
    let oldest = Number.POSITIVE_INFINITY;
    for (const versions of this.#versions.values()) {
      for (const version of versions) oldest = Math.min(oldest, version.snapshot.position);
    }
    return oldest;
  }
}

function inUse(versions: readonly Version[]): number {
  return versions.filter((version) => version.users > 0).length;
}
