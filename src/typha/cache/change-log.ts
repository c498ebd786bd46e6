// The change log, compacted by key: every key is threaded on one list in the order of its last change, deletions
// included as tombstones. "Everything since position P" is the end of the list, each key once, whatever was missed.
//
//   oldest ⇄ a@3 ⇄ †c@7 ⇄ b@9 ⇄ d@12 newest        a change of a moves it to the end: … ⇄ d@12 ⇄ a@13
//
// A position is the number of a change, so no two keys share one, and any place in the list is a place to go on from.
import type { Entry, Position } from "./entry.ts";

/** How far those who read are: up to `byAll` everybody, and nobody further than what is published. */
export type Seen = { readonly byAll: Position; readonly published: Position };

/** Places are remembered for this many readers in the middle of a long catch-up. */
const rememberedPlaces = 1024;

export class ChangeLog {
  #oldest: Entry | undefined;
  #newest: Entry | undefined;
  #head: Position = 0;
  /** In the order of their deletion. */
  readonly #tombstones = new Set<Entry>();
  #deletions = 0;
  /** The newest tombstone that is gone: who has not seen it cannot be brought up to date by changes any more. */
  #horizon: Position = 0;
  readonly #places = new Map<Position, Entry>();

  get head(): Position {
    return this.#head;
  }

  get horizon(): Position {
    return this.#horizon;
  }

  /** Deletions so far: no more tombstones than this have come since any earlier count. */
  get deletions(): number {
    return this.#deletions;
  }

  get tombstoneCount(): number {
    return this.#tombstones.size;
  }

  /** Gives the entry the next position and the last place. */
  touch(entry: Entry): void {
    if (entry.position !== 0) this.#unlink(entry);
    this.#head += 1;
    entry.previousPosition = entry.position;
    entry.position = this.#head;
    entry.older = this.#newest;
    entry.newer = undefined;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
    this.#tombstones.delete(entry);
    if (entry.isLive) return;
    this.#deletions += 1;
    this.#tombstones.add(entry);
  }

  /** The first entry that changed after the position, from which `newer` leads through all the others. */
  after(position: Position): Entry | undefined {
    const place = this.#places.get(position);
    if (place?.position === position) return place.newer;
    let entry = this.#newest;
    if (entry === undefined || entry.position <= position) return undefined;
    while (entry.older !== undefined && entry.older.position > position) entry = entry.older;
    return entry;
  }

  /** A reader stops behind this entry for now; after() then finds the place without a search, unless the entry moves. */
  rememberPlace(entry: Entry): void {
    if (this.#places.size >= rememberedPlaces) {
      const [eldest] = this.#places.keys();
      if (eldest !== undefined) this.#places.delete(eldest);
    }
    this.#places.set(entry.position, entry);
  }

  /**
   * Removes tombstones that everybody has seen, and the oldest of those beyond the most that may be kept. Those that are
   * not published yet stay, however many: nobody has had a chance to see them.
   */
  *forget(seen: Seen, mostKept: number): Iterable<Entry> {
    for (const entry of this.#tombstones) {
      if (entry.position > seen.published) return;
      if (entry.position > seen.byAll && this.#tombstones.size <= mostKept) return;
      this.#tombstones.delete(entry);
      this.#unlink(entry);
      this.#places.delete(entry.position);
      this.#horizon = Math.max(this.#horizon, entry.position);
      yield entry;
    }
  }

  #unlink(entry: Entry): void {
    if (entry.older === undefined) this.#oldest = entry.newer;
    else entry.older.newer = entry.newer;
    if (entry.newer === undefined) this.#newest = entry.older;
    else entry.newer.older = entry.older;
  }

  *oldestFirst(): Iterable<Entry> {
    for (let entry = this.#oldest; entry !== undefined; entry = entry.newer) yield entry;
  }
}
