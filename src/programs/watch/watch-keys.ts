// What `cattail watch` remembers of the keys it was told: kind, size and when they last changed. Not the values: those of
// a large cluster would be hundreds of megabytes.

import { keyKind, type SyncStatus, syncStatus } from "../../calico/model/index.ts";
import type { Update } from "../../typha/client/index.ts";

export type WatchedKey = {
  readonly kind: string;
  readonly bytes: number;
  readonly atMs: number;
  readonly is: KeyUpdate;
};
export type KeyUpdate = "new" | "updated" | "deleted";

const statusWords: { readonly [status in SyncStatus]: string } = {
  0: "waiting for a server that is in sync",
  1: "receiving the snapshot",
  2: "in sync",
};

export class WatchKeys {
  /** In order of last change. Of deleted keys the last few are kept, to be shown. */
  readonly recent = new Map<string, WatchedKey>();
  status: SyncStatus | undefined;
  updates = 0;
  bytes = 0;
  deleted = 0;

  get count(): number {
    return this.recent.size - this.deleted;
  }

  get statusText(): string {
    return this.status === undefined ? "connecting" : statusWords[this.status];
  }

  get isInSync(): boolean {
    return this.status === syncStatus.inSync;
  }

  take(update: Update, atMs: number): WatchedKey | undefined {
    if (update.is === "status") {
      this.status = update.status;
      return undefined;
    }
    this.updates += 1;
    this.#forget(update.path);
    const isDelete = update.is === "delete";
    const bytes = isDelete ? 0 : Buffer.byteLength(update.value);
    const is = isDelete ? "deleted" : update.isNew ? "new" : "updated";
    const key: WatchedKey = { kind: keyKind(update.path), bytes, atMs, is };
    this.recent.set(update.path, key);
    this.bytes += bytes;
    if (isDelete) this.#buried(update.path);
    return key;
  }

  /** Most keys first. */
  totals(): { kind: string; keys: number; bytes: number }[] {
    const totals = new Map<string, { kind: string; keys: number; bytes: number }>();
    for (const { kind, bytes, is } of this.recent.values()) {
      if (is === "deleted") continue;
      const total = totals.get(kind) ?? { kind, keys: 0, bytes: 0 };
      total.keys += 1;
      total.bytes += bytes;
      totals.set(kind, total);
    }
    return [...totals.values()].sort((a, b) => b.keys - a.keys);
  }

  #forget(path: string): void {
    const before = this.recent.get(path);
    if (before === undefined) return;
    this.recent.delete(path);
    this.bytes -= before.bytes;
    if (before.is === "deleted") this.deleted -= 1;
  }

  readonly #graves: string[] = [];
  #buried(path: string): void {
    this.deleted += 1;
    this.#graves.push(path);
    while (this.#graves.length > mostGraves) {
      const oldest = this.#graves.shift() ?? "";
      if (this.recent.get(oldest)?.is === "deleted") this.#forget(oldest);
    }
  }
}

/** More than any terminal shows. */
const mostGraves = 200;

export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 999_950) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

export function ageText(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${seconds % 60}s`;
  return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m`;
}
