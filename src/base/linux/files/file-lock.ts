// One process at a time, by a lock on a file that the kernel takes back when its holder dies, however it dies.
//
// Node has no call for such locks. SQLite, which comes with Node, takes them (fcntl) in the way that is hard to get right by hand, and
// needs no node:ffi: an exclusive transaction on an empty database is the lock, and rolling it back leaves the file empty. The lock
// belongs to the file's inode, so it holds between network namespaces, containers, processes and threads alike.
//
//   acquire:   wait in line in this process ─▶ gate (NAME.gate) ─▶ lock (NAME) ─▶ gate is let go
//
// The gate makes it fair: whoever waits for the lock holds the gate, so a holder that lets go and wants again at once
// comes after them. Waiting is looking again, after 0.2 ms at first and 10 ms at most. docs/decisions/0018-file-lock.md
import { linkSync, lstatSync, readFileSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { CattailError, type Clock, systemClock } from "../../lib/index.ts";
import { loadBuiltin } from "../load-builtin.ts";
import { errnoOf, reasonOf } from "./errno.ts";
import { chanceHex } from "./unused-name.ts";

export type AcquireOptions = {
  readonly signal?: AbortSignal | undefined;
  /** After so long without the lock it is an error, which names the holder. */
  readonly limitMs?: number;
};

/** The lock, held. Disposing of it twice does nothing. */
export type HeldFileLock = Disposable;

const firstWaitMs = 0.2;
const longestWaitMs = 10;
const sqliteBusy = 5;

/** A lock named by a file, which is made if it is not there, stays empty, and must not be deleted while anybody uses the lock. */
export class FileLock implements Disposable {
  readonly path: string;
  readonly #clock: Clock;
  readonly #gate: LockFile;
  readonly #lock: LockFile;
  /** The last in this process's line. */
  #line: Promise<void> = Promise.resolve();

  constructor(path: string, options: { readonly clock?: Clock } = {}) {
    this.path = path;
    this.#clock = options.clock ?? systemClock;
    this.#gate = new LockFile(`${path}.gate`);
    this.#lock = new LockFile(path);
  }

  async acquire(options: AcquireOptions = {}): Promise<HeldFileLock> {
    const { signal, limitMs = 60_000 } = options;
    const untilMs = this.#clock.monotonicMs() + limitMs;
    const before = this.#line;
    const mine = Promise.withResolvers<void>();
    this.#line = before.then(() => mine.promise);
    try {
      await passed(before, signal);
      await this.#wait(this.#gate, { untilMs, limitMs, signal });
      try {
        await this.#wait(this.#lock, { untilMs, limitMs, signal });
      } finally {
        this.#gate.release();
      }
    } catch (error) {
      mine.resolve();
      throw error;
    }
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#lock.release();
        mine.resolve();
      },
    };
  }

  /** Does the work while it has the lock. */
  async run<T>(work: () => Promise<T> | T, options: AcquireOptions = {}): Promise<T> {
    using _held = await this.acquire(options);
    return await work();
  }

  [Symbol.dispose](): void {
    this.#gate.close();
    this.#lock.close();
  }

  async #wait(
    file: LockFile,
    limit: { untilMs: number; limitMs: number; signal: AbortSignal | undefined },
  ): Promise<void> {
    let waitMs = firstWaitMs;
    for (;;) {
      limit.signal?.throwIfAborted();
      if (file.tryAcquire()) return;
      if (this.#clock.monotonicMs() >= limit.untilMs) throw tooLong(this.path, limit.limitMs);
      // Below a millisecond a timer would wait a whole one: a turn of the event loop is the shorter wait.
      if (waitMs < 1) await new Promise<void>((resolve) => setImmediate(resolve));
      else await this.#clock.sleep(Math.min(waitMs, limit.untilMs - this.#clock.monotonicMs()), limit.signal);
      waitMs = Math.min(waitMs * 1.5, longestWaitMs);
    }
  }
}

/** One file and SQLite's lock on it. */
class LockFile {
  readonly #path: string;
  #database: { readonly db: DatabaseSync; readonly identity: string } | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  tryAcquire(): boolean {
    try {
      const { db, identity } = this.#open();
      db.exec("BEGIN EXCLUSIVE");
      if (identityOf(this.#path) === identity) return true;
      // Somebody deleted the file or put another in its place: what we hold is a lock that nobody else looks at.
      this.close();
      return false;
    } catch (error) {
      if (isBusy(error)) return false;
      this.close();
      throw unusable(this.#path, error);
    }
  }

  release(): void {
    this.#database?.db.exec("ROLLBACK");
  }

  close(): void {
    this.#database?.db.close();
    this.#database = undefined;
  }

  #open(): { readonly db: DatabaseSync; readonly identity: string } {
    if (this.#database !== undefined) return this.#database;
    makeLockFile(this.#path);
    const identity = identityOf(this.#path);
    const { DatabaseSync: Database } = loadBuiltin<typeof import("node:sqlite")>("node:sqlite");
    const db = new Database(this.#path, { timeout: 0 });
    db.exec("PRAGMA journal_mode = MEMORY"); // no journal beside it
    this.#database = { db, identity };
    return this.#database;
  }
}

// Made here and not by SQLite, so that others cannot write to it and no link leads out of the folder. Made under another name
// first: whoever closes a file loses the fcntl locks that its process has on it, so the lock file itself is never opened here.
function makeLockFile(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile()) return;
  if (stats !== undefined) throw new Error("it is not a file");
  const fresh = `${path}.${chanceHex(16)}.tmp`;
  writeFileSync(fresh, "", { flag: "wx", mode: 0o600 });
  try {
    linkSync(fresh, path);
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error; // else somebody was quicker
  } finally {
    unlinkSync(fresh);
  }
}

function identityOf(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? "absent" : `${stats.dev}:${stats.ino}`;
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === sqliteBusy;
}

/** Waits for those before us, or for the signal. */
function passed(before: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return before;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    before.then(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
  });
}

function tooLong(path: string, limitMs: number): CattailError {
  const holder = holderOf(path);
  return new CattailError("LOCK_TIMEOUT", {
    problem: `the lock ${path} was not free within ${limitMs} ms${holder === undefined ? "" : `; process ${holder} has it`}`,
    next:
      holder === undefined
        ? "Try again; if it is still locked, /proc/locks shows which process holds it"
        : `Check what that process does (ps -fp ${holder}); the lock is released when it ends`,
  });
}

function unusable(path: string, error: unknown): CattailError {
  return new CattailError("LOCK_UNUSABLE", {
    problem: `the lock file ${path} cannot be used (${reasonOf(error)})`,
    next: "It must be an empty file in a folder that this user may write to, on a file system with locks (not every network file system has them)",
    cause: error,
  });
}

/** The process that holds the lock, as far as the kernel tells it to us. */
function holderOf(path: string): number | undefined {
  try {
    const inode = statSync(path, { bigint: true }).ino;
    const line = new RegExp(`POSIX\\s+ADVISORY\\s+WRITE\\s+(\\d+)\\s+[0-9a-f]+:[0-9a-f]+:${inode}\\s`);
    const pid = Number(line.exec(readFileSync("/proc/locks", "utf8"))?.[1]);
    return pid > 0 ? pid : undefined;
  } catch {
    return undefined; // no /proc, or the file is gone: the error is told without a name
  }
}
