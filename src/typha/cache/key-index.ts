// The live keys in the order of their paths, for those who look at a running server. Made when first asked for; from then
// on it is told what goes, and the change log says what came, so that asking again costs a few searches and not a sort of
// 100,000 paths (bench/dashboard).
import type { ChangeLog } from "./change-log.ts";
import type { Entry, Position } from "./entry.ts";

/** One key as the cache holds it. Good until the next change. */
export type KeyInfo = Readonly<Pick<Entry, "path" | "position" | "isLive" | "type" | "piece">>;

/** Up to here each change is put in its place; beyond it, all are merged in one pass. */
const mostSingly = 2000;
/** Deletions remembered between two looks; beyond it, the next look goes through all keys. */
const mostGone = 10_000;

export class KeyIndex {
  #entries: Entry[] = [];
  /** Every change up to here is in the list. */
  #position: Position = 0;
  #gone: Entry[] = [];

  /** A key in the list may have gone, for good or to come back. */
  noteGone(entry: Entry): void {
    if (this.#gone.length < mostGone) this.#gone.push(entry);
  }

  refresh(log: ChangeLog): readonly KeyInfo[] {
    const since = this.#position;
    if (log.head === since) return this.#entries;
    const born: Entry[] = [];
    for (let entry = log.after(since); entry !== undefined; entry = entry.newer) {
      if (entry.isLive && entry.bornAt > since && entry.audience !== "legacy") born.push(entry);
    }
    if (born.length + this.#gone.length <= mostSingly) this.#place(born);
    else
      this.#entries = merge(
        this.#entries.filter((entry) => entry.isLive && entry.bornAt <= since),
        born.sort(byPath),
      );
    this.#gone = [];
    this.#position = log.head;
    return this.#entries;
  }

  // Runs between two edits are copied as a whole: moving the rest of a long list for each edit costs more than all of it.
  #place(born: Entry[]): void {
    const edits = [
      ...this.#gone.map((entry) => ({ at: this.#find(entry.path), entry, isIn: false })),
      ...born.sort(byPath).map((entry) => ({ at: this.#find(entry.path), entry, isIn: true })),
    ].sort((left, right) => left.at - right.at || Number(left.isIn) - Number(right.isIn));
    const runs: Entry[][] = [];
    let done = 0;
    for (const { at, entry, isIn } of edits) {
      const isHere = this.#entries[at] === entry;
      if (at > done) runs.push(this.#entries.slice(done, at));
      done = Math.max(done, at);
      if (isIn) runs.push([entry]);
      if (isHere && at === done) done += 1;
    }
    runs.push(this.#entries.slice(done));
    this.#entries = ([] as Entry[]).concat(...runs);
  }

  /** Where the path is, or would be. */
  #find(path: string): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.path ?? "") < path) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function byPath(left: Entry, right: Entry): number {
  return left.path < right.path ? -1 : 1;
}

function merge(left: Entry[], right: Entry[]): Entry[] {
  if (right.length === 0) return left;
  if (left.length === 0) return right;
  const merged: Entry[] = [];
  let at = 0;
  for (const entry of left) {
    for (let next = right[at]; next !== undefined && next.path < entry.path; next = right[at]) {
      merged.push(next);
      at += 1;
    }
    merged.push(entry);
  }
  for (; at < right.length; at += 1) {
    const next = right[at];
    if (next !== undefined) merged.push(next);
  }
  return merged;
}
