// What the consumer has been told, so that a new connection can be joined to the old one without a gap: keys seen again
// are ticked off, and when the new server is in sync, those it did not mention are deleted. Until then they stay.
import { updateType } from "../../../calico/model/basics.ts";
import type { SerializedUpdate } from "../../wire/index.ts";
import type { Update } from "../update.ts";
import { KeyTable } from "./key-table.ts";

export class KnownKeys {
  readonly #told: KeyTable;
  /** Each connection has a number, and each path that of the connection that told it last. */
  #connection = 0;
  #isSettled = true;

  constructor(random: () => number) {
    this.#told = new KeyTable(random);
  }

  get size(): number {
    return this.#told.size;
  }

  /** A new server begins to tell its snapshot. */
  reconnected(): void {
    this.#connection += 1;
    this.#isSettled = this.#told.size === 0;
  }

  /** Adds what the consumer does not know yet to the batch. */
  take(update: SerializedUpdate, batch: Update[]): void {
    const { key: path, value, revision, v3ResourceVersion } = update;
    if (value === undefined) {
      const why = update.updateType === updateType.deleted ? "deleted" : "invalid";
      if (this.#told.delete(path)) batch.push({ is: "delete", path, why });
      return;
    }
    const isNew = this.#told.set(path, this.#connection);
    batch.push({ is: "set", path, value, revision, v3ResourceVersion, isNew });
  }

  /** The server is in sync: deletions for what it did not mention. */
  settle(batch: Update[]): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    for (const path of this.#told.pathsBut(this.#connection)) {
      this.#told.delete(path);
      batch.push({ is: "delete", path, why: "gone" });
    }
  }
}
