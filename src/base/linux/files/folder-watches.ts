// The one way in which folders are watched: inotify watches that are kept equal to a list of folders, and a bell that gathers
// what they say until it pauses. Who uses it decides what a notice means (watch-folder.ts: look again; a folder of manifests: these files), and
// looks by itself now and then for what no notice tells: network file systems, a full queue of notices, no watches left.
import { type FSWatcher, watch } from "node:fs";
import { type Clock, type Log, messageOf, settleWithin } from "../../lib/index.ts";
import { errnoOf } from "./errno.ts";

/** A folder and which one it is: another may take its place under the same path. */
export type SeenFolder = {
  readonly path: string;
  readonly identity: string;
  /** Only notices about this entry matter: what else happens in a folder above ours (such as /tmp) is not our concern. */
  readonly only?: string;
};

export type FolderWatchesOptions = {
  readonly log: Log;
  /** How the log names what is watched: "a folder of manifests". */
  readonly what?: string;
  /** The entry's name, which the kernel does not always say; null also when the watch itself was lost. */
  readonly noticed: (folder: string, name: string | null) => void;
};

type Watch = {
  readonly watcher: FSWatcher;
  /** The entries whose notices count; undefined: all. */
  only: ReadonlySet<string> | undefined;
};

export class FolderWatches implements Disposable {
  readonly #options: FolderWatchesOptions;
  readonly #watches = new Map<string, Watch>(); // by identity: a notice belongs to the folder, not to its path
  #isPollingSaid = false;

  constructor(options: FolderWatchesOptions) {
    this.#options = options;
  }

  /** Watches exactly these folders from now on. Whether one of them was not watched before: it must be looked at again. */
  follow(folders: readonly SeenFolder[]): boolean {
    const wanted = Map.groupBy(folders, ({ identity }) => identity);
    for (const identity of this.#watches.keys()) if (!wanted.has(identity)) this.#forget(identity);
    let isNew = false;
    for (const [identity, same] of wanted) {
      const names = same.flatMap(({ only }) => only ?? []);
      const only = names.length === same.length ? new Set(names) : undefined;
      const known = this.#watches.get(identity);
      if (known !== undefined) known.only = only;
      else if (this.#start(same[0]?.path ?? "", identity, only)) isNew = true;
    }
    return isNew;
  }

  [Symbol.dispose](): void {
    this.follow([]);
  }

  #start(path: string, identity: string, only: Watch["only"]): boolean {
    const { noticed } = this.#options;
    try {
      const watcher = watch(path, { persistent: false }, (_event, name) => {
        const names = this.#watches.get(identity)?.only;
        if (name === null || names === undefined || names.has(name)) noticed(path, name);
      });
      watcher.on("error", (error) => {
        this.#lost(identity, path, error);
        noticed(path, null);
      });
      this.#watches.set(identity, { watcher, only });
      return true;
    } catch (error) {
      this.#lost(identity, path, error);
      return false;
    }
  }

  #forget(identity: string): void {
    this.#watches.get(identity)?.watcher.close();
    this.#watches.delete(identity);
  }

  // A folder that is gone needs no watch; running out of watches is for the operator to know. The slow look goes on, and
  // tries again each time.
  #lost(identity: string, folder: string, error: unknown): void {
    this.#forget(identity);
    const code = errnoOf(error);
    if (code === "ENOENT" || this.#isPollingSaid) return;
    this.#isPollingSaid = true;
    const { log, what = "a folder" } = this.#options;
    const next =
      code === "ENOSPC" || code === "EMFILE"
        ? "raise fs.inotify.max_user_watches and fs.inotify.max_user_instances (sysctl)"
        : "changes are found when all files are looked at, some seconds later";
    log.warn(`${what} cannot be watched; looking at it now and then`, { folder, error: messageOf(error), next });
  }
}

export type Pause = {
  /** So long without a further notice, and the writer is taken to be done. */
  readonly quietMs: number;
  /** A writer that never pauses is not waited for longer than this. */
  readonly mostQuietWaitMs: number;
};

/** Rung once or more since the last time, or not. */
export class Bell {
  readonly #clock: Clock;
  readonly #signal: AbortSignal | undefined;
  #isRung = false;
  #wake: () => void = () => undefined;

  constructor(clock: Clock, signal: AbortSignal | undefined) {
    this.#clock = clock;
    this.#signal = signal;
  }

  ring(): void {
    this.#isRung = true;
    this.#wake();
  }

  /** False: the time was over first. Rejects when the signal aborts. */
  async rungWithin(limitMs: number): Promise<boolean> {
    this.#signal?.throwIfAborted();
    if (!this.#isRung) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const settled = await settleWithin(promise, { clock: this.#clock, limitMs, signal: this.#signal });
      if (settled.is === "late") return false;
    }
    this.#isRung = false;
    return true;
  }

  /** As above, and then waits until it has been quiet for a while. */
  async pausedWithin(limitMs: number, { quietMs, mostQuietWaitMs }: Pause): Promise<boolean> {
    if (!(await this.rungWithin(limitMs))) return false;
    const untilMs = this.#clock.monotonicMs() + mostQuietWaitMs;
    while (this.#clock.monotonicMs() < untilMs && (await this.rungWithin(quietMs)));
    return true;
  }
}
