// Writes a file so that a reader, and a machine that loses power, sees the old content or the new, never a part.
//
//   open .NAME.RANDOM.tmp (new, in the same folder) ─▶ write ─▶ owner, mode ─▶ fsync ─▶ rename to NAME ─▶ fsync of the folder
//
// A process that dies in between leaves a temporary file that nobody reads; sweepTemporaryFiles() removes those.
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, readdir, realpath, rename, rm, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CattailError } from "../../lib/index.ts";
import { errnoOf, reasonOf } from "./errno.ts";
import { chanceHex } from "./unused-name.ts";

export type ReplaceFileOptions = {
  /** Permission bits. Without: those of the file that is replaced, or 0o644. The umask takes nothing away. */
  readonly mode?: number;
  /** Without: whoever runs this process. */
  readonly owner?: { readonly uid: number; readonly gid: number };
  /**
   * What to do when the path is a symbolic link. `replace` (as rename does) puts the file in the link's place, `follow` writes
   * to where it leads. `refuse` also refuses a folder that is a link, and holds on to the folder while it works: it is for files in
   * folders that somebody less trusted may write to.
   */
  readonly symlink?: "replace" | "follow" | "refuse";
  /** False: not forced to the disk, so a power failure may bring back the old content (never a part). */
  readonly durable?: boolean;
};

const temporaryName = /^\..+\.[0-9a-f]{16}\.tmp$/;

/** Whether replaceFile() makes such names: whoever lists a folder leaves them out. */
export function isTemporaryName(name: string): boolean {
  return temporaryName.test(name);
}

export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  options: ReplaceFileOptions = {},
): Promise<void> {
  const { symlink = "replace", durable = true } = options;
  try {
    const target = symlink === "follow" ? await realpathOrSame(path) : path;
    await using folder = await openFolder(dirname(target), symlink === "refuse");
    const file = join(folder.path, basename(target));
    const before = await lstatOrAbsent(file);
    if (symlink === "refuse" && before?.isSymbolicLink()) throw linkRefused(path);
    const temporary = join(folder.path, `.${basename(target)}.${chanceHex(16)}.tmp`);
    try {
      await writeTemporary(temporary, content, { mode: modeOf(options, before), owner: options.owner, durable });
      await rename(temporary, file);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined); // where it cannot be removed it could not be made
      throw error;
    }
    if (durable) await folder.sync();
  } catch (error) {
    throw asReplaceError(path, error);
  }
}

/** Removes a file, also from the disk's memory of the folder. Whether it was there. */
export async function removeFile(path: string, options: { readonly durable?: boolean } = {}): Promise<boolean> {
  try {
    await unlink(path);
    if (options.durable !== false) await syncFolder(dirname(path));
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw asReplaceError(path, error);
  }
}

/** Forces to the disk which files a folder has: a rename or removal survives a power failure only after this. */
export async function syncFolder(path: string): Promise<void> {
  await using folder = await openFolder(path, false);
  await folder.sync();
}

/** Removes what writers that died have left in the folder. Younger ones may belong to somebody who is still writing. */
export async function sweepTemporaryFiles(
  folder: string,
  options: { readonly nowMs: number; readonly olderThanMs?: number },
): Promise<number> {
  const untilMs = options.nowMs - (options.olderThanMs ?? 60_000);
  let removed = 0;
  for (const name of (await readdir(folder)).filter(isTemporaryName)) {
    const path = join(folder, name);
    const stats = await lstatOrAbsent(path);
    if (stats === undefined || !stats.isFile() || stats.mtimeMs > untilMs) continue;
    await rm(path, { force: true });
    removed += 1;
  }
  return removed;
}

type OpenFolder = AsyncDisposable & {
  /** By which its files are reached. */
  readonly path: string;
  sync(): Promise<void>;
};

async function openFolder(path: string, isPinned: boolean): Promise<OpenFolder> {
  const noFollow = isPinned ? constants.O_NOFOLLOW : 0;
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | noFollow);
  return {
    // By way of the descriptor it stays this folder, even if its path is given to another one meanwhile.
    path: isPinned ? `/proc/self/fd/${handle.fd}` : path,
    sync: () => handle.sync(),
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

async function writeTemporary(
  path: string,
  content: string | Uint8Array,
  how: { mode: number; owner: ReplaceFileOptions["owner"]; durable: boolean },
): Promise<void> {
  // Not readable by others before it has its owner and mode. "wx" follows no link and takes no file that is there.
  const handle: FileHandle = await open(path, "wx", 0o600);
  try {
    await handle.writeFile(content);
    if (how.owner !== undefined) await handle.chown(how.owner.uid, how.owner.gid);
    await handle.chmod(how.mode);
    if (how.durable) await handle.sync();
  } finally {
    await handle.close();
  }
}

function modeOf(options: ReplaceFileOptions, before: Stats | undefined): number {
  return options.mode ?? (before?.isFile() ? before.mode & 0o7777 : 0o644);
}

async function lstatOrAbsent(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function realpathOrSame(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT" && (await lstatOrAbsent(path)) === undefined) return path; // not there yet
    throw error;
  }
}

function linkRefused(path: string): CattailError {
  return new CattailError("FILE_IS_LINK", {
    problem: `${path} is a symbolic link, or its folder is one; links are not followed here`,
    next: "See where it points (ls -l). Remove the link if nobody needs it, or give the real path of the file",
  });
}

function asReplaceError(path: string, error: unknown): unknown {
  if (error instanceof CattailError) return error;
  // O_NOFOLLOW | O_DIRECTORY on a link: ENOTDIR; on a link at all: ELOOP.
  if (errnoOf(error) === "ELOOP") return linkRefused(path);
  return new CattailError("FILE_UNWRITABLE", {
    problem: `${path} cannot be written (${reasonOf(error)})`,
    next: "Check that its folder exists and is not a link, that this user may write to it, and that the disk is not full",
    cause: error,
  });
}
