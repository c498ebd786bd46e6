// The last changes of one syncer, for "what happened to this key lately". A ring: the oldest makes room for the next.

import { type KvUpdate, updateType } from "../../../calico/model/index.ts";
import type { Position } from "../../cache/index.ts";

const capacity = 10_000;
/** More of one key's history than anybody reads. */
const mostOfOneKey = 20;

export type JournalEntry = {
  readonly path: string;
  readonly change: "new" | "updated" | "deleted" | "invalid";
  readonly revision: string;
  readonly bytes: number;
  readonly position: Position;
  readonly receivedAtMs: number;
  readonly cachedAtMs: number;
};

export class Journal {
  readonly #ring: JournalEntry[] = [];
  #count = 0;

  add(update: KvUpdate, at: Pick<JournalEntry, "position" | "receivedAtMs" | "cachedAtMs">): void {
    const { path, revision } = update;
    this.#ring[this.#count % capacity] = {
      path,
      change: changeOf(update),
      revision,
      bytes: update.value?.length ?? 0,
      ...at,
    };
    this.#count += 1;
  }

  /** Newest first. */
  of(path: string): JournalEntry[] {
    const found: JournalEntry[] = [];
    const oldest = Math.max(0, this.#count - capacity);
    for (let number = this.#count - 1; number >= oldest && found.length < mostOfOneKey; number -= 1) {
      const entry = this.#ring[number % capacity];
      if (entry?.path === path) found.push(entry);
    }
    return found;
  }
}

function changeOf({ value, type }: KvUpdate): JournalEntry["change"] {
  if (type === updateType.deleted) return "deleted";
  if (value === undefined) return "invalid";
  return type === updateType.new ? "new" : "updated";
}
