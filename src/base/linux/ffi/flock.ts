// The lock that other programs of a host take with flock(2) on a file. FileLock (files/file-lock.ts) is better between our own processes,
// but its locks are of another sort, which the kernel does not weigh against these.
//
// Waiting is the kernel's: it keeps the line, and whoever looks now and then instead never gets a turn beside those who wait. So this
// blocks the whole thread, and is for programs that have nothing else to do; signals that nobody listens to end them nevertheless.
import { closeSync, constants, fstatSync, openSync, rmSync, statSync } from "node:fs";
import { constants as system } from "node:os";
import { dirname } from "node:path";
import { makeFoldersSync } from "../files/make-folders.ts";
import { failedCall, libc } from "./libc.ts";

const lockExclusive = 2;
const withoutWaiting = 4;

/** Waits until nobody else has it. Disposing of it lets go; so does the end of the process. Makes the folder and the file. */
export function waitForFlock(path: string): Disposable {
  return locked(path, (file) => {
    while (libc().flock(file, lockExclusive) !== 0) {
      if (libc().errno() !== system.errno.EINTR) throw failedCall("flock", `the file ${path} cannot be locked`);
    }
    return true;
  });
}

/** At once or not at all: undefined where somebody else has it. For programs that have other things to do, which come back. */
export function tryFlock(path: string): Disposable | undefined {
  return locked(path, (file) => isLocked(file, path));
}

/**
 * As tryFlock, but the file goes when the lock is let go: for locks of which there are as many as there are things in the world. Whoever waited
 * for a file that has gone meanwhile holds nothing, and looks again; so all who take the lock must take it by this.
 */
export function tryPassingFlock(path: string): Disposable | undefined {
  let own: number | undefined;
  const held = locked(path, (file) => {
    own = file;
    return isLocked(file, path) && isStill(file, path);
  });
  if (held === undefined) return undefined;
  return {
    [Symbol.dispose]() {
      if (own !== undefined && isStill(own, path)) rmSync(path, { force: true });
      own = undefined;
      held[Symbol.dispose]();
    },
  };
}

function isLocked(file: number, path: string): boolean {
  if (libc().flock(file, lockExclusive | withoutWaiting) === 0) return true;
  const errno = libc().errno();
  if (errno === system.errno.EWOULDBLOCK || errno === system.errno.EINTR) return false;
  throw failedCall("flock", `the file ${path} cannot be locked`);
}

function isStill(file: number, path: string): boolean {
  const [ours, there] = [fstatSync(file, { bigint: true }), statSync(path, { bigint: true, throwIfNoEntry: false })];
  return there !== undefined && there.ino === ours.ino && there.dev === ours.dev;
}

function locked(path: string, lock: (file: number) => true): Disposable;
function locked(path: string, lock: (file: number) => boolean): Disposable | undefined;
function locked(path: string, lock: (file: number) => boolean): Disposable | undefined {
  makeFoldersSync(dirname(path), 0o777);
  // Whoever may write to the folder must not have us make or lock a file elsewhere.
  const file = openSync(path, constants.O_CREAT | constants.O_RDONLY | constants.O_NOFOLLOW, 0o750);
  let isHeld = false;
  try {
    isHeld = lock(file);
  } finally {
    if (!isHeld) closeSync(file);
  }
  if (!isHeld) return undefined;
  return {
    [Symbol.dispose]() {
      if (isHeld) closeSync(file);
      isHeld = false;
    },
  };
}
