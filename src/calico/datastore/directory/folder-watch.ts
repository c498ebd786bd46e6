// Says what may have changed in a folder: by the kernel's notices, and by a slow look now and then for what they miss (targets of symlinks
// elsewhere, network file systems, a full queue of notices).
//
//   notice about a manifest ─▶ quiet for quietMs (waited for mostQuietWaitMs at most) ─▶ changed(): these files
//   notice about a folder, a link, or without a name ───────────────────────────────────▶ changed(): everything
//   notice about the log of revisions ─▶ logChanged(), at once: its writers are done when they write there
//
// Unlike base/linux's watchFolder it names the files, because looking at 10,000 of them for each one that changes would be too slow.
import { type FSWatcher, watch } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { type Clock, type Log, settleWithin } from "../../../base/lib/index.ts";
import { errnoOf } from "../../../base/linux/files.ts";
import { isPassingName, ownFolder } from "./file-names.ts";
import type { FoundFolder } from "./scan-folder.ts";

export type FolderWatchOptions = {
  readonly root: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** So long without a further notice, and the writer is taken to be done. */
  readonly quietMs: number;
  /** A writer that never pauses is not waited for longer than this. */
  readonly mostQuietWaitMs: number;
};

/** Files by their names relative to the folder. */
export type Changed = { readonly is: "everything" } | { readonly is: "files"; readonly files: readonly string[] };

/** More changed files than this are looked for, not remembered. */
const mostFiles = 1000;

export class FolderWatch {
  readonly #options: FolderWatchOptions;
  readonly #watchers = new Map<string, { readonly identity: string; readonly watcher: FSWatcher }>();
  readonly #files = new Set<string>();
  #isEverything = false;
  readonly #any = new Bell();
  readonly #logBell = new Bell();
  #isPollingOnly = false;

  constructor(options: FolderWatchOptions) {
    this.#options = options;
  }

  /** Watches exactly these folders from now on, and the folder of the log. Whether it had not watched one of them before. */
  follow(folders: readonly FoundFolder[], logFolder: FoundFolder | undefined): boolean {
    const all = logFolder === undefined ? folders : [...folders, logFolder];
    const wanted = new Map(all.map(({ path, identity }) => [path, identity]));
    const above = dirname(this.#options.root);
    for (const [path, { identity, watcher }] of this.#watchers) {
      // A notice belongs to the folder, not to its path: one that took its place must be watched anew.
      if (path === above && all.length > 0 && !wanted.has(above)) continue;
      if (wanted.get(path) === identity) continue;
      watcher.close();
      this.#watchers.delete(path);
    }
    // Of the folder above only what happens to ours is heard: that it is moved away, and made again.
    if (all.length > 0 && !this.#watchers.has(above) && !wanted.has(above)) {
      const name = basename(this.#options.root);
      this.#start({ path: above, identity: "above" }, (entry) => (entry === name ? this.#everything() : undefined));
    }
    const fresh = folders.filter(({ path }) => !this.#watchers.has(path));
    for (const folder of fresh) this.#start(folder, (name) => this.#noticed(folder.path, name));
    if (logFolder === undefined || this.#watchers.has(logFolder.path)) return fresh.length > 0;
    this.#start(logFolder, (name) =>
      name === null || name.startsWith("revisions") ? this.#logBell.ring() : undefined,
    );
    return true;
  }

  /** Resolves when it is time to look again, after the wait at the latest. Rejects when the signal aborts. */
  async changed(longestWaitMs: number): Promise<Changed> {
    const { mostQuietWaitMs, quietMs, clock, signal } = this.#options;
    if (!(await this.#any.rungWithin(longestWaitMs, clock, signal))) return { is: "everything" };
    const untilMs = clock.monotonicMs() + mostQuietWaitMs;
    while (clock.monotonicMs() < untilMs && (await this.#any.rungWithin(quietMs, clock, signal)));
    const changed: Changed = this.#isEverything ? { is: "everything" } : { is: "files", files: [...this.#files] };
    this.#isEverything = false;
    this.#files.clear();
    return changed;
  }

  /** Resolves when somebody wrote to the log of revisions. Rejects when the signal aborts. */
  async logChanged(longestWaitMs: number): Promise<void> {
    await this.#logBell.rungWithin(longestWaitMs, this.#options.clock, this.#options.signal);
  }

  close(): void {
    this.follow([], undefined);
  }

  #noticed(folder: string, name: string | null): void {
    // The machinery of a mounted ConfigMap's swap starts with two dots; what else is hidden or passing is nobody's manifest.
    if (name !== null && isPassingName(name) && !name.startsWith("..") && name !== ownFolder) return;
    const isFile = name !== null && /\.(ya?ml|json)$/i.test(name);
    if (isFile) this.#files.add(relative(this.#options.root, join(folder, name)));
    if (isFile && this.#files.size <= mostFiles) this.#any.ring();
    else this.#everything();
  }

  #everything(): void {
    this.#isEverything = true;
    this.#files.clear();
    this.#any.ring();
  }

  #start({ path, identity }: FoundFolder, noticed: (name: string | null) => void): void {
    try {
      const watcher = watch(path, { persistent: false }, (_event, name) => noticed(name));
      watcher.on("error", (error) => {
        this.#lost(path, error);
        this.#everything();
      });
      this.#watchers.set(path, { identity, watcher });
    } catch (error) {
      this.#lost(path, error);
    }
  }

  // A folder that is gone needs no watcher; running out of watchers is for the operator to know. The slow look goes on,
  // and tries again each time.
  #lost(folder: string, error: unknown): void {
    this.#watchers.get(folder)?.watcher.close();
    this.#watchers.delete(folder);
    const code = errnoOf(error);
    if (code === "ENOENT" || this.#isPollingOnly) return;
    this.#isPollingOnly = true;
    const next =
      code === "ENOSPC" || code === "EMFILE"
        ? "raise fs.inotify.max_user_watches and fs.inotify.max_user_instances (sysctl)"
        : "changes are found when all files are looked at, some seconds later";
    this.#options.log.warn("a folder of manifests cannot be watched; looking at it now and then", {
      folder,
      error: String(error),
      next,
    });
  }
}

/** Rung once or more since the last time, or not. */
class Bell {
  #isRung = false;
  #wake: () => void = () => undefined;

  ring(): void {
    this.#isRung = true;
    this.#wake();
  }

  async rungWithin(limitMs: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    if (!this.#isRung) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      if ((await settleWithin(promise, { clock, limitMs, signal })).is === "late") return false;
    }
    this.#isRung = false;
    return true;
  }
}
