// Says when a folder may have changed: the kernel's notices, gathered until they pause, and a slow look now and then for
// what they miss (targets of symlinks elsewhere, network file systems, a full notice queue).
import { type FSWatcher, watch } from "node:fs";
import type { Clock, Log } from "../../lib/index.ts";
import { settleWithin } from "../settle-within.ts";

export type FolderWatchOptions = {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** So long without a further notice, and the writer is taken to be done. */
  readonly quietMs: number;
  /** A writer that never pauses is not waited for longer than this. */
  readonly mostQuietWaitMs: number;
  readonly pollIntervalMs: number;
};

export class FolderWatch {
  readonly #options: FolderWatchOptions;
  readonly #watchers = new Map<string, FSWatcher>();
  #notices = 0;
  #wake: () => void = () => undefined;
  #isPollingOnly = false;

  constructor(options: FolderWatchOptions) {
    this.#options = options;
  }

  /** Watches exactly these folders from now on. */
  follow(folders: readonly string[]): void {
    for (const [folder, watcher] of this.#watchers) {
      if (folders.includes(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of folders) if (!this.#watchers.has(folder)) this.#start(folder);
  }

  /** Resolves when it is time to look again. Rejects when the signal aborts. */
  async changed(): Promise<void> {
    const { pollIntervalMs, mostQuietWaitMs, quietMs, clock } = this.#options;
    if (!(await this.#noticeWithin(pollIntervalMs))) return;
    const untilMs = clock.monotonicMs() + mostQuietWaitMs;
    while (clock.monotonicMs() < untilMs && (await this.#noticeWithin(quietMs)));
    this.#notices = 0;
  }

  close(): void {
    this.follow([]);
  }

  async #noticeWithin(limitMs: number): Promise<boolean> {
    const { clock, signal } = this.#options;
    signal.throwIfAborted();
    if (this.#notices === 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      if ((await settleWithin(promise, { clock, limitMs, signal })).is === "late") return false;
    }
    this.#notices = 0;
    return true;
  }

  #start(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#noticed());
      watcher.on("error", (error) => this.#lost(folder, error));
      this.#watchers.set(folder, watcher);
    } catch (error) {
      this.#lost(folder, error);
    }
  }

  #noticed(): void {
    this.#notices += 1;
    this.#wake();
  }

  // A folder that is gone needs no watcher; running out of watchers is for the operator to know. The slow look goes on.
  #lost(folder: string, error: unknown): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
    this.#noticed();
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || this.#isPollingOnly) return;
    this.#isPollingOnly = true;
    const { log, pollIntervalMs } = this.#options;
    log.warn("a folder of manifests cannot be watched; looking at it now and then", {
      folder,
      error: String(error),
      everyMs: pollIntervalMs,
    });
  }
}
