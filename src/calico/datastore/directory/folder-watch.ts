// Says what may have changed in a folder of manifests: what a notice of the kernel means here (base/linux, FolderWatches), and a slow look now and then
// for what no notice tells.
//
//   notice about a manifest ─▶ quiet for quietMs (waited for mostQuietWaitMs at most) ─▶ changed(): these files
//   notice about a folder, a link, or without a name ───────────────────────────────────▶ changed(): everything
//   notice about the log of revisions ─▶ logChanged(), at once: its writers are done when they write there
//
// It names the files, because looking at 10,000 of them for each one that changes would be too slow.
import { statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { Clock, Log } from "../../../base/lib/index.ts";
import { Bell, FolderWatches, type Pause, type SeenFolder } from "../../../base/linux/files.ts";
import { isPassingName, ownFolder } from "./file-names.ts";
import type { FoundFolder } from "./scan-folder.ts";

export type FolderWatchOptions = Pause & {
  readonly root: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
};

/** Files by their names relative to the folder. */
export type Changed = { readonly is: "everything" } | { readonly is: "files"; readonly files: readonly string[] };

/** More changed files than this are looked for, not remembered. */
const mostFiles = 1000;

export class FolderWatch {
  readonly #options: FolderWatchOptions;
  readonly #watches: FolderWatches;
  readonly #files = new Set<string>();
  #isEverything = false;
  readonly #any: Bell;
  readonly #logBell: Bell;
  #logPath: string | undefined;

  constructor(options: FolderWatchOptions) {
    const { log, clock, signal } = options;
    this.#options = options;
    this.#any = new Bell(clock, signal);
    this.#logBell = new Bell(clock, signal);
    const noticed = (folder: string, name: string | null) => this.#noticed(folder, name);
    this.#watches = new FolderWatches({ log, noticed, what: "a folder of manifests" });
  }

  /** Watches exactly these folders from now on, and the folder of the log. Whether it had not watched one of them before. */
  follow(folders: readonly FoundFolder[], logFolder: FoundFolder | undefined): boolean {
    this.#logPath = logFolder?.path;
    const all: SeenFolder[] = logFolder === undefined ? [...folders] : [...folders, logFolder];
    const above = all.length === 0 ? undefined : this.#above();
    return this.#watches.follow(above === undefined ? all : [...all, above]);
  }

  /** Resolves when it is time to look again, after the wait at the latest. Rejects when the signal aborts. */
  async changed(longestWaitMs: number): Promise<Changed> {
    if (!(await this.#any.pausedWithin(longestWaitMs, this.#options))) return { is: "everything" };
    const changed: Changed = this.#isEverything ? { is: "everything" } : { is: "files", files: [...this.#files] };
    this.#isEverything = false;
    this.#files.clear();
    return changed;
  }

  /** Resolves when somebody wrote to the log of revisions. Rejects when the signal aborts. */
  async logChanged(longestWaitMs: number): Promise<void> {
    await this.#logBell.rungWithin(longestWaitMs);
  }

  close(): void {
    this.#watches[Symbol.dispose]();
  }

  /** Of the folder above only what happens to ours is heard: that it is moved away, and made again. */
  #above(): SeenFolder | undefined {
    const { root } = this.#options;
    const path = dirname(root);
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? undefined : { path, identity: `${stats.dev}:${stats.ino}`, only: basename(root) };
  }

  #noticed(folder: string, name: string | null): void {
    if (folder === this.#logPath) {
      if (name === null || name.startsWith("revisions")) this.#logBell.ring();
      return;
    }
    // The machinery of a mounted ConfigMap's swap starts with two dots; what else is hidden or passing is nobody's manifest.
    if (name !== null && isPassingName(name) && !name.startsWith("..") && name !== ownFolder) return;
    const file = name === null ? "" : relative(this.#options.root, join(folder, name));
    const isFile = /\.(ya?ml|json)$/i.test(file) && !file.startsWith("..");
    if (isFile) this.#files.add(file);
    if (isFile && this.#files.size <= mostFiles) this.#any.ring();
    else this.#everything();
  }

  #everything(): void {
    this.#isEverything = true;
    this.#files.clear();
    this.#any.ring();
  }
}
