// The live keys in the order of their paths, for those who look at a running server. Made when first asked for; from then
// on the change log says what came since, so that asking again costs a merge and not a sort of 100,000 paths.
import type { ChangeLog, Entry, Position } from "./change-log.ts";

/** One key as the cache holds it. Good until the next change. */
export type KeyInfo = Readonly<Pick<Entry, "path" | "position" | "isLive" | "type" | "piece">>;

export class KeyIndex {
  #entries: Entry[] = [];
  /** Every change up to here is in the list. */
  #position: Position = 0;

  refresh(log: ChangeLog): readonly KeyInfo[] {
    const since = this.#position;
    if (log.head === since) return this.#entries;
    const born: Entry[] = [];
    for (let entry = log.after(since); entry !== undefined; entry = entry.newer) {
      if (entry.isLive && entry.bornAt > since && entry.audience !== "legacy") born.push(entry);
    }
    // A key that went and came back is among the born, whether or not its entry stayed the same object.
    const kept = this.#entries.filter((entry) => entry.isLive && entry.bornAt <= since);
    this.#entries = merge(kept, born.sort(byPath));
    this.#position = log.head;
    return this.#entries;
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
