// Says when a folder may have changed: at once by the kernel's notices, gathered until they pause, and by a slow look now and then
// for what they miss (network file systems, a full queue of notices, no watches left).
//
//   notice ─▶ quiet for quietMs (waited for mostQuietWaitMs at most) ─┐
//   rescanMs passed ─▶ look: is the stamp another? ───────────────────┴─▶ yield ─▶ the consumer reads ─▶ from the start
//
// A folder that is swapped by a rename or a link (as Kubernetes mounts Secrets), removed, or made again later stays watched: what
// is watched is found anew at every look, and the folder above is watched with it.
import { resolve } from "node:path";
import { type Clock, type Log, silentLog, systemClock } from "../../lib/index.ts";
import { lookAtFolder } from "./folder-stamp.ts";
import { Bell, FolderWatches } from "./folder-watches.ts";

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
  const bell = new Bell(clock, signal);
  using watches = new FolderWatches({ log, noticed: () => bell.ring() });
  let stamp: string | undefined;
  let because: FolderNotice["because"] = "start";
  try {
    for (;;) {
      const seen = await look(roots, deep, watches);
      if (because !== "rescan" || seen.stamp !== stamp) yield { because, absent: seen.absent };
      stamp = seen.stamp;
      signal?.throwIfAborted();
      because = (await bell.pausedWithin(rescanMs, { quietMs, mostQuietWaitMs })) ? "notice" : "rescan";
    }
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

// Looks again until everything met is being watched: what changed between a look and its watch raised no notice.
async function look(
  roots: readonly string[],
  isDeep: boolean,
  watches: FolderWatches,
): Promise<{ stamp: string; absent: string[] }> {
  for (let round = 1; ; round++) {
    const looks = await Promise.all(roots.map((root) => lookAtFolder(root, isDeep)));
    const isNew = watches.follow(looks.flatMap(({ folders }) => folders));
    if (isNew && round < 5) continue;
    const absent = roots.filter((_root, i) => looks[i]?.isPresent === false);
    return { stamp: looks.map(({ stamp }) => stamp).join("\n\n"), absent };
  }
}
