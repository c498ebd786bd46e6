// Network namespaces, by the path of the file that stands for them (/run/netns/NAME, /proc/PID/ns/net).
//
// A namespace is entered and left within one tick: everything else in this process runs on the same thread, and must not find itself
// elsewhere. What is opened inside (a socket) or started inside (a program) stays there.
//
//   inNamespace(path, work):   open path ─▶ setns ─▶ work() ─▶ setns back        all of it synchronous
import { closeSync, mkdirSync, openSync, readdirSync, unlinkSync, writeFileSync } from "node:fs";
import { CattailError } from "../../lib/index.ts";
import { failedCall, libc, SystemCallError } from "../ffi/libc.ts";
import { errnoOf, reasonOf } from "../files/errno.ts";

const newNetwork = 0x40000000; // CLONE_NEWNET
const bind = 0x1000n; // MS_BIND
const recursive = 0x4000n; // MS_REC
const shared = 0x100000n; // MS_SHARED
const detach = 2; // MNT_DETACH
const folder = "/run/netns"; // where `ip netns` looks

/** An open namespace: it lives as long as this, and links can be moved to its `fd`. */
export type OpenNamespace = Disposable & { readonly path: string; readonly fd: number };

export function openNamespace(path: string): OpenNamespace {
  if (!path.startsWith("/")) throw noNamespace(path, "the path is not absolute");
  try {
    const fd = openSync(path, "r");
    return { path, fd, [Symbol.dispose]: () => closeSync(fd) };
  } catch (error) {
    throw noNamespace(path, reasonOf(error), error);
  }
}

/** Does the work inside the namespace. The work is synchronous: what it leaves for later happens outside. */
export function inNamespace<T>(path: string, work: () => T): T {
  using there = openNamespace(path);
  using here = openNamespace("/proc/thread-self/ns/net");
  enter(there);
  try {
    const result = work();
    if (result instanceof Promise) throw new TypeError("inNamespace: the work must not be asynchronous");
    return result;
  } finally {
    enter(here);
  }
}

/** A new namespace that has a name, as `ip netns add` makes it: it stays until it is deleted. Returns its path. */
export function createNamespace(name: string): string {
  const path = namespacePath(name);
  prepareFolder();
  try {
    writeFileSync(path, "", { flag: "wx", mode: 0o444 });
  } catch (error) {
    if (errnoOf(error) === "EEXIST") throw exists(name);
    throw noNamespace(path, reasonOf(error), error);
  }
  try {
    using here = openNamespace("/proc/thread-self/ns/net");
    if (libc().unshare(newNetwork) !== 0) throw failedCall("unshare", "no new network namespace");
    try {
      if (libc().mount("/proc/thread-self/ns/net", path, "none", bind, null) !== 0) {
        throw failedCall("mount", `the new network namespace gets no name at ${path}`);
      }
    } finally {
      enter(here);
    }
  } catch (error) {
    unlinkSync(path);
    throw error;
  }
  return path;
}

/** Whether it was there. What is inside lives on while a process or an open descriptor uses it. */
export function deleteNamespace(name: string): boolean {
  const path = namespacePath(name);
  // Not a mount (EINVAL) or not there: what remains is the file.
  if (libc().umount2(path, detach) !== 0) {
    const errno = new SystemCallError("umount2", libc().errno()).code;
    if (errno !== "EINVAL" && errno !== "ENOENT") throw failedCall("umount2", `${path} cannot be removed`);
  }
  try {
    unlinkSync(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw noNamespace(path, reasonOf(error), error);
  }
}

export function namespaceNames(): string[] {
  try {
    return readdirSync(folder).filter((name) => validName.test(name));
  } catch {
    return []; // nobody has made one yet
  }
}

export function namespacePath(name: string): string {
  if (validName.test(name)) return `${folder}/${name}`;
  throw new CattailError("NAMESPACE_NAME", {
    problem: `${JSON.stringify(name)} is not a name for a network namespace`,
    next: "Use 1 to 64 letters, digits, dots, dashes and underscores, a letter or digit first",
  });
}

const validName = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

function enter(namespace: OpenNamespace): void {
  if (libc().setns(namespace.fd, newNetwork) === 0) return;
  throw failedCall("setns", `the network namespace ${namespace.path} cannot be entered`);
}

// The folder is a mount of its own that is shared with other mount namespaces, so that a deleted namespace is deleted everywhere.
function prepareFolder(): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o755 });
  } catch (error) {
    throw noNamespace(folder, reasonOf(error), error);
  }
  const share = (): boolean => libc().mount("", folder, "none", shared | recursive, null) === 0;
  if (share()) return;
  if (libc().mount(folder, folder, "none", bind | recursive, null) !== 0 || !share()) {
    throw failedCall("mount", `${folder} cannot be made ready`);
  }
}

function exists(name: string): CattailError {
  return new CattailError("NAMESPACE_EXISTS", {
    problem: `a network namespace named ${name} exists already`,
    next: `Take another name, or delete it if nobody needs it: ip netns del ${name}`,
  });
}

function noNamespace(path: string, why: string, cause?: unknown): CattailError {
  return new CattailError("NAMESPACE_UNUSABLE", {
    problem: `the network namespace ${path} cannot be used (${why})`,
    next: "Name it by its file: /run/netns/NAME (ip netns lists them) or /proc/PID/ns/net; entering one takes root",
    cause,
  });
}
