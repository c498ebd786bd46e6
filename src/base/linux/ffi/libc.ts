// The C library's functions that we call, and nothing else of node:ffi: this folder is the fence. Every call is a system call that
// returns at once, but for a flock that waits (ffi/flock.ts). docs/decisions/0019-netlink-over-ffi.md
import { constants } from "node:os";
import { CattailError } from "../../lib/index.ts";
import { loadBuiltin } from "../load-builtin.ts";

type Ffi = typeof import("node:ffi");

const definitions = {
  socket: { arguments: ["i32", "i32", "i32"], return: "i32" },
  bind: { arguments: ["i32", "buffer", "u32"], return: "i32" },
  sendto: { arguments: ["i32", "buffer", "u64", "i32", "buffer", "u32"], return: "i64" },
  recv: { arguments: ["i32", "buffer", "u64", "i32"], return: "i64" },
  setsockopt: { arguments: ["i32", "i32", "i32", "buffer", "u32"], return: "i32" },
  close: { arguments: ["i32"], return: "i32" },
  setns: { arguments: ["i32", "i32"], return: "i32" },
  unshare: { arguments: ["i32"], return: "i32" },
  mount: { arguments: ["string", "string", "string", "u64", "pointer"], return: "i32" },
  flock: { arguments: ["i32", "i32"], return: "i32" },
  umount2: { arguments: ["string", "i32"], return: "i32" },
  __errno_location: { arguments: [], return: "pointer" },
} as const;

type Functions = ReturnType<typeof open>["functions"];
export type Libc = Functions & {
  /** The errno of the call that has just failed: to be read before anything else is called. */
  errno(): number;
};

let loaded: Libc | undefined; // the library stays loaded as long as the process lives: loading it again would open it again

/** Throws NODE_TOO_OLD where node:ffi is missing. */
export function libc(): Libc {
  if (loaded !== undefined) return loaded;
  const ffi = loadBuiltin<Ffi>("node:ffi");
  const { functions } = open(ffi);
  const errnoAt = functions.__errno_location(); // the same for as long as the thread lives
  loaded = { ...functions, errno: () => ffi.getInt32(errnoAt) };
  return loaded;
}

function open(ffi: Ffi) {
  return ffi.dlopen(null, definitions);
}

const errnoNames = new Map(Object.entries(constants.errno).map(([name, number]) => [number, name]));
errnoNames.set(constants.errno.EAGAIN, "EAGAIN"); // has two names on Linux, as has:
errnoNames.set(constants.errno.EOPNOTSUPP, "EOPNOTSUPP");

/** `ENODEV` for 19. */
export function errnoName(errno: number): string {
  return errnoNames.get(errno) ?? `errno ${errno}`;
}

/** What a failed call leaves as the cause of the error that tells of it, with the errno name as its code. */
export class SystemCallError extends Error {
  readonly code: string;

  constructor(call: string, errno: number) {
    super(`${call}: ${errnoName(errno)}`);
    this.name = "SystemCallError";
    this.code = errnoName(errno);
  }
}

/** The error for a call that failed just now. */
export function failedCall(call: string, problem: string): CattailError {
  const cause = new SystemCallError(call, libc().errno());
  const next =
    cause.code === "EPERM" || cause.code === "EACCES"
      ? "Run this as root, or with the capabilities CAP_NET_ADMIN and CAP_SYS_ADMIN"
      : cause.code === "EMFILE" || cause.code === "ENFILE"
        ? "Let the process open more files (ulimit -n)"
        : `See what ${call} means by it: man 2 ${call}`;
  return new CattailError("SYSTEM_CALL", { problem: `${problem} (${call}: ${cause.code})`, next, cause });
}
