// The folder's lock, and what a writer that died left behind. The lock is a file in .cattail/, taken by the kernel's rules (base/linux, FileLock): a
// process that is killed holds nothing. While a file is being replaced, .cattail/writing names its folder; whoever takes the lock and finds a name
// there removes the temporary file that the dead writer made.
import { mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CattailError, type Clock, messageOf } from "../../../base/lib/index.ts";
import { errnoOf, FileLock, sweepTemporaryFiles } from "../../../base/linux/files.ts";
import { DatastoreError } from "../errors.ts";
import { ownFolder } from "./file-names.ts";

export type FolderLockOptions = {
  readonly root: string;
  readonly clock: Clock;
  /** A process that is alive and holds the lock is waited for so long. */
  readonly lockWaitMs: number;
};

export class FolderLock implements Disposable {
  readonly folder: string;
  readonly #options: FolderLockOptions;
  readonly #lock: FileLock;

  constructor(options: FolderLockOptions) {
    this.#options = options;
    this.folder = join(options.root, ownFolder);
    this.#lock = new FileLock(join(this.folder, "lock"), { clock: options.clock });
  }

  /** Does the work while no other process writes. Throws DatastoreError where the lock cannot be had. */
  async run<T>(work: () => Promise<T> | T, signal?: AbortSignal | undefined): Promise<T> {
    const held = await this.#acquire(signal);
    try {
      await this.#cleanUp();
      return await work();
    } finally {
      held[Symbol.dispose]();
    }
  }

  /** Around the replacement of a file in this folder (relative to the root). */
  async whileWritingIn<T>(folder: string, write: () => Promise<T>): Promise<T> {
    const marker = join(this.folder, "writing");
    writeFileSync(marker, `${folder}\n`);
    const result = await write();
    truncateSync(marker);
    return result;
  }

  [Symbol.dispose](): void {
    this.#lock[Symbol.dispose]();
  }

  async #acquire(signal: AbortSignal | undefined): Promise<Disposable> {
    const { root, lockWaitMs } = this.#options;
    try {
      if (statSync(this.folder, { throwIfNoEntry: false }) === undefined) this.#prepare();
      return await this.#lock.acquire({ limitMs: lockWaitMs, signal });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw lockError(root, error);
    }
  }

  // Not with "recursive": a folder that was taken away is not made again by us.
  #prepare(): void {
    try {
      mkdirSync(this.folder);
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error; // another process was quicker
    }
    writeFileSync(join(this.folder, ".gitignore"), "*\n");
  }

  async #cleanUp(): Promise<void> {
    const marker = join(this.folder, "writing");
    const stats = statSync(marker, { throwIfNoEntry: false });
    if (stats === undefined || stats.size === 0) return;
    const folder = join(this.#options.root, readFileSync(marker, "utf8").trim());
    // Nobody else writes now, so a temporary file of any age is a dead writer's. A minute ahead: clocks of file systems are coarse.
    const nowMs = this.#options.clock.wallMs() + 60_000;
    if (isInside(this.#options.root, folder) && statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
      await sweepTemporaryFiles(folder, { nowMs, olderThanMs: 0 });
    }
    truncateSync(marker);
  }
}

function isInside(root: string, folder: string): boolean {
  return folder === root || folder.startsWith(`${join(root)}/`) || folder === join(root);
}

function lockError(root: string, error: unknown): DatastoreError {
  const errno = errnoOf(error) ?? (error instanceof Error ? errnoOf(error.cause) : undefined);
  if (errno === "EACCES" || errno === "EROFS" || errno === "EPERM") {
    return new DatastoreError("forbidden", `the folder ${root} may not be written to by this user (${errno})`, {
      cause: error,
      next: "run as a user who may write there, or give that right (chmod, chown; a mounted ConfigMap can never be written)",
    });
  }
  if (errno === "ENOENT") {
    return new DatastoreError("unavailable", `the folder ${root} is not there`, {
      cause: error,
      next: "make the folder again, or mount what it is on",
    });
  }
  if (error instanceof CattailError) {
    const who = error.code === "LOCK_TIMEOUT" ? holderOf(error.problem) : "";
    return new DatastoreError("unavailable", error.problem + who, { cause: error, next: error.next });
  }
  return new DatastoreError("unavailable", `the folder ${root} cannot be locked: ${messageOf(error)}`, {
    cause: error,
  });
}

/** What the process is called that the lock's error names by number. */
function holderOf(problem: string): string {
  const pid = /process (\d+) has it/.exec(problem)?.[1];
  if (pid === undefined) return "";
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\u0000", " ").trim();
    return command === "" ? "" : `: ${command.slice(0, 200)}`;
  } catch {
    return ""; // it has just ended, or belongs to another user
  }
}
