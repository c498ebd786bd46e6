// Says when a folder may have changed: the kernel's notices, gathered until they pause, and a slow look now and then for
// what they miss (targets of symlinks elsewhere, network file systems, a full notice queue).
import { type FSWatcher, watch } from "node:fs";
import { type Clock, type Log, settleWithin } from "../../../base/lib/index.ts";
import type { FoundFolder } from "./scan-folder.ts";

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
  readonly #watchers = new Map<string, { readonly identity: string; readonly watcher: FSWatcher }>();
  #notices = 0;
  #wake: () => void = () => undefined;
  #isPollingOnly = false;

  constructor(options: FolderWatchOptions) {
    this.#options = options;
  }

  /** Watches exactly these folders from now on. Whether it had not watched one of them before. */
  follow(folders: readonly FoundFolder[]): boolean {
    const wanted = new Map(folders.map(({ path, identity }) => [path, identity]));
    for (const [path, { identity, watcher }] of this.#watchers) {
      // A notice belongs to the folder, not to its path: one that took its place must be watched anew.
      if (wanted.get(path) === identity) continue;
      watcher.close();
      this.#watchers.delete(path);
    }
    const fresh = folders.filter(({ path }) => !this.#watchers.has(path));
    for (const folder of fresh) this.#start(folder);
    return fresh.length > 0;
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

  #start({ path, identity }: FoundFolder): void {
    try {
      const watcher = watch(path, { persistent: false }, () => this.#noticed());
      watcher.on("error", (error) => {
        this.#lost(path, error);
        this.#noticed();
      });
      this.#watchers.set(path, { identity, watcher });
    } catch (error) {
      this.#lost(path, error);
    }
  }

  #noticed(): void {
    this.#notices += 1;
    this.#wake();
  }

  // A folder that is gone needs no watcher; running out of watchers is for the operator to know. The slow look goes on,
  // and tries again each time.
  #lost(folder: string, error: unknown): void {
    this.#watchers.get(folder)?.watcher.close();
    this.#watchers.delete(folder);
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
