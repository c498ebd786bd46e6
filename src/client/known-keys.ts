// What the consumer has been told, so that a new connection can be joined to the old one without a gap: keys seen again
// are ticked off, and when the new server is in sync, those it did not mention are deleted. Until then they stay.
import type { SerializedUpdate } from "../wire/index.ts";
import type { Update } from "./update.ts";

export class KnownKeys {
  readonly #told = new Set<string>();
  #unseen: Set<string> | undefined;

  /** A new server begins to tell its snapshot. */
  reconnected(): void {
    this.#unseen = new Set(this.#told);
  }

  /** Undefined: nothing the consumer does not know. */
  take(update: SerializedUpdate): Update | undefined {
    const { key: path, value, revision, v3ResourceVersion } = update;
    this.#unseen?.delete(path);
    if (value === undefined) {
      if (!this.#told.delete(path)) return undefined;
      return { is: "delete", path };
    }
    const isNew = !this.#told.has(path);
    this.#told.add(path);
    return { is: "set", path, value, revision, v3ResourceVersion, isNew };
  }

  /** The server is in sync: deletions for what it did not mention. */
  settle(): Update[] {
    const gone = [...(this.#unseen ?? [])];
    this.#unseen = undefined;
    for (const path of gone) this.#told.delete(path);
    return gone.map((path) => ({ is: "delete", path }));
  }
}
