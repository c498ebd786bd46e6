// The lock that other programs of a host take with flock(2) on a file. FileLock (files/file-lock.ts) is better between our own processes,
// but its locks are of another sort, which the kernel does not weigh against these.
//
// Waiting is the kernel's: it keeps the line, and whoever looks now and then instead never gets a turn beside those who wait. So this
// blocks the whole thread, and is for programs that have nothing else to do; signals that nobody listens to end them nevertheless.
import { closeSync, constants, mkdirSync, openSync } from "node:fs";
import { constants as system } from "node:os";
import { dirname } from "node:path";
import { failedCall, libc } from "./libc.ts";

const lockExclusive = 2;

/** Waits until nobody else has it. Disposing of it lets go; so does the end of the process. Makes the folder and the file. */
export function waitForFlock(path: string): Disposable {
  mkdirSync(dirname(path), { recursive: true, mode: 0o777 });
  const file = openSync(path, constants.O_CREAT | constants.O_RDONLY, 0o750);
  try {
    while (libc().flock(file, lockExclusive) !== 0) {
      if (libc().errno() !== system.errno.EINTR) throw failedCall("flock", `the file ${path} cannot be locked`);
    }
  } catch (error) {
    closeSync(file);
    throw error;
  }
  let isHeld = true;
  return {
    [Symbol.dispose]() {
      if (isHeld) closeSync(file);
      isHeld = false;
    },
  };
}
