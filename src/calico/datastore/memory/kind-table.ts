// One kind's objects in memory, and the window of changes a watch may go on from.
//
//   history:   [ r12 set a ][ r15 delete b ][ r16 set c ]      revisions are the whole datastore's, so they have gaps
//   floor:  r9 ^ everything up to here was dropped             a watch from r9 or later misses nothing
//
// A watcher holds a revision, not a queue: one that reads slowly costs nothing until it falls out of the window, and is
// then told "expired", as by a real API server.
import type { ObjectId, StoredObject } from "../datastore.ts";
import { idText } from "../object-id.ts";

export type HistoryEntry = {
  readonly at: bigint;
  readonly id: ObjectId;
  /** Undefined: there was none. */
  readonly before: StoredObject | undefined;
  /** Undefined: it is deleted. */
  readonly now: StoredObject | undefined;
};

export class KindTable {
  readonly #objects = new Map<string, StoredObject>();
  readonly #mostChanges: number;
  #history: HistoryEntry[] = [];
  #floor = 0n;

  constructor(mostChanges: number) {
    this.#mostChanges = mostChanges;
  }

  /** The last change dropped: who has not read it has missed it. */
  get floor(): bigint {
    return this.#floor;
  }

  get(id: ObjectId): StoredObject | undefined {
    return this.#objects.get(idText(id));
  }

  /** Every object as of now, in the order of namespace and name. */
  all(): StoredObject[] {
    return [...this.#objects.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }

  apply({ at, id, now }: Omit<HistoryEntry, "before">): void {
    const key = idText(id);
    const before = this.#objects.get(key);
    if (now === undefined) this.#objects.delete(key);
    else this.#objects.set(key, now);
    this.#history.push({ at, id, before, now });
    // Dropping half at a time keeps a write cheap; the window is then between half and all of the bound.
    if (this.#history.length > this.#mostChanges) this.#drop(Math.ceil(this.#history.length / 2));
  }

  /** The first change after the revision; undefined when there is none yet. */
  next(after: bigint): HistoryEntry | undefined {
    let low = 0;
    let high = this.#history.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#history[middle]?.at ?? 0n) > after) high = middle;
      else low = middle + 1;
    }
    return this.#history[low];
  }

  /** Forgets every change, as a compaction does. An open watch that has read them all goes on. */
  compact(): void {
    this.#drop(this.#history.length);
  }

  #drop(count: number): void {
    this.#floor = this.#history[count - 1]?.at ?? this.#floor;
    this.#history = this.#history.slice(count);
  }
}
