// What the consumer has been told, so that a new connection can be joined to the old one without a gap: keys seen again
// are ticked off, and when the new server is in sync, those it did not mention are deleted. Until then they stay.
import { updateType } from "../model/basics.ts";
import type { SerializedUpdate } from "../wire/index.ts";
import type { Update } from "./update.ts";

export class KnownKeys {
  readonly #told = new Set<string>();
  #unseen: Set<string> | undefined;

  get size(): number {
    return this.#told.size;
  }

  /** A new server begins to tell its snapshot. */
  reconnected(): void {
    this.#unseen = this.#told.size === 0 ? undefined : new Set(this.#told);
  }

  /** Adds what the consumer does not know yet to the batch. */
  take(update: SerializedUpdate, batch: Update[]): void {
    const { key: path, value, revision, v3ResourceVersion } = update;
    this.#unseen?.delete(path);
    if (value === undefined) {
      const why = update.updateType === updateType.deleted ? "deleted" : "invalid";
      if (this.#told.delete(path)) batch.push({ is: "delete", path, why });
      return;
    }
    const before = this.#told.size;
    this.#told.add(path);
    batch.push({ is: "set", path, value, revision, v3ResourceVersion, isNew: this.#told.size > before });
  }

  /** The server is in sync: deletions for what it did not mention. */
  settle(batch: Update[]): void {
    const gone = this.#unseen ?? [];
    this.#unseen = undefined;
    for (const path of gone) {
      this.#told.delete(path);
      batch.push({ is: "delete", path, why: "gone" });
    }
  }
}
