// Says when a folder may have changed: at once by the kernel's notices, gathered until they pause, and by a slow look now and then
// for what they miss (network file systems, a full queue of notices, no watches left).
//
//   notice ─▶ quiet for quietMs (waited for mostQuietWaitMs at most) ─┐
//   rescanMs passed ─▶ look: is the stamp another? ───────────────────┴─▶ yield ─▶ the consumer reads ─▶ from the start
//
// A folder that is swapped by a rename or a link (as Kubernetes mounts Secrets), removed, or made again later stays watched: what
// is watched is found anew at every look, and the folder above is watched with it.
import { type FSWatcher, watch } from "node:fs";
import { resolve } from "node:path";
import { type Clock, type Log, messageOf, settleWithin, silentLog, systemClock } from "../../lib/index.ts";
import { errnoOf } from "./errno.ts";
import { lookAtFolder, type SeenFolder } from "./folder-stamp.ts";

export type WatchFolderOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Also what is in folders below, links to folders included. */
  readonly deep?: boolean;
  /** So long without a further notice, and the writer is taken to be done. */
  readonly quietMs?: number;
  /** A writer that never pauses is not waited for longer than this. */
  readonly mostQuietWaitMs?: number;
  readonly rescanMs?: number;
  readonly clock?: Clock;
  readonly log?: Log;
};

export type FolderNotice = {
  /** `start` comes first and at once, so that one loop reads the folder at the start and after every change. */
  readonly because: "start" | "notice" | "rescan";
  /** Those of the watched folders that are not there. */
  readonly absent: readonly string[];
};

/**
 * Yields when it is time to read the folder (or any of the folders) again. What changes while the consumer reads is in the next notice;
 * notices that come meanwhile are one. Ends when the signal aborts.
 */
export async function* watchFolder(
  paths: string | readonly string[],
  options: WatchFolderOptions = {},
): AsyncGenerator<FolderNotice, void, undefined> {
  const roots = (typeof paths === "string" ? [paths] : [...paths]).map((path) => resolve(path));
  const { quietMs = 50, mostQuietWaitMs = 1_000, rescanMs = 10_000, deep = false } = options;
  const { clock = systemClock, log = silentLog, signal } = options;
  using watches = new Watches(log, rescanMs);
  let stamp: string | undefined;
  let because: FolderNotice["because"] = "start";
  try {
    for (;;) {
      const seen = await look(roots, deep, watches);
      if (because !== "rescan" || seen.stamp !== stamp) yield { because, absent: seen.absent };
      stamp = seen.stamp;
      signal?.throwIfAborted();
      because = (await watches.noticeWithin(rescanMs, clock, signal)) ? "notice" : "rescan";
      if (because !== "notice") continue;
      const untilMs = clock.monotonicMs() + mostQuietWaitMs;
      while (clock.monotonicMs() < untilMs && (await watches.noticeWithin(quietMs, clock, signal)));
    }
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

// Looks again until everything met is being watched: what changed between a look and its watch raised no notice.
async function look(
  roots: readonly string[],
  isDeep: boolean,
  watches: Watches,
): Promise<{ stamp: string; absent: string[] }> {
  for (let round = 1; ; round++) {
    const looks = await Promise.all(roots.map((root) => lookAtFolder(root, isDeep)));
    const isNew = watches.follow(looks.flatMap(({ folders }) => folders));
    if (isNew && round < 5) continue;
    const absent = roots.filter((_root, i) => looks[i]?.isPresent === false);
    return { stamp: looks.map(({ stamp }) => stamp).join("\n\n"), absent };
  }
}

type Watch = {
  readonly watcher: FSWatcher;
  /** The entries whose notices count; undefined: all. */
  only: ReadonlySet<string> | undefined;
};

class Watches implements Disposable {
  readonly #log: Log;
  readonly #rescanMs: number;
  readonly #watchers = new Map<string, Watch>(); // by identity: a notice belongs to the folder, not to its path
  #hasNotice = false;
  #wake: () => void = () => undefined;
  #isPollingSaid = false;

  constructor(log: Log, rescanMs: number) {
    this.#log = log;
    this.#rescanMs = rescanMs;
  }

  /** Watches exactly these folders from now on. Whether it had not watched one of them before. */
  follow(folders: readonly SeenFolder[]): boolean {
    const wanted = Map.groupBy(folders, ({ identity }) => identity);
    for (const identity of this.#watchers.keys()) if (!wanted.has(identity)) this.#forget(identity);
    let isNew = false;
    for (const [identity, same] of wanted) {
      const names = same.flatMap(({ only }) => only ?? []);
      const only = names.length === same.length ? new Set(names) : undefined;
      const known = this.#watchers.get(identity);
      if (known !== undefined) known.only = only;
      else if (this.#start(same[0]?.path ?? "", identity, only)) isNew = true;
    }
    return isNew;
  }

  async noticeWithin(limitMs: number, clock: Clock, signal: AbortSignal | undefined): Promise<boolean> {
    if (!this.#hasNotice) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      if ((await settleWithin(promise, { clock, limitMs, signal })).is === "late") return false;
    }
    this.#hasNotice = false;
    return true;
  }

  [Symbol.dispose](): void {
    this.follow([]);
  }

  #start(path: string, identity: string, only: Watch["only"]): boolean {
    try {
      const watcher = watch(path, { persistent: false }, (_event, name) => {
        const names = this.#watchers.get(identity)?.only;
        if (name === null || names === undefined || names.has(name)) this.#noticed();
      });
      watcher.on("error", (error) => {
        this.#lost(identity, path, error);
        this.#noticed();
      });
      this.#watchers.set(identity, { watcher, only });
      return true;
    } catch (error) {
      this.#lost(identity, path, error);
      return false;
    }
  }

  #noticed(): void {
    this.#hasNotice = true;
    this.#wake();
  }

  #forget(identity: string): void {
    this.#watchers.get(identity)?.watcher.close();
    this.#watchers.delete(identity);
  }

  // A folder that is gone needs no watch; running out of watches is for the operator to know. The slow look goes on, and
  // tries again each time.
  #lost(identity: string, folder: string, error: unknown): void {
    this.#forget(identity);
    if (errnoOf(error) === "ENOENT" || this.#isPollingSaid) return;
    this.#isPollingSaid = true;
    this.#log.warn("a folder cannot be watched; looking at it now and then", {
      folder,
      error: messageOf(error),
      everyMs: this.#rescanMs,
    });
  }
}
