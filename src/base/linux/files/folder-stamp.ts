// What a folder holds, as far as a change of it can be told without reading files: which folder it is, and name, identity, size and time of
// every entry. Two looks with the same stamp mean that nothing has changed; the folders met are the ones to watch.
import type { BigIntStats } from "node:fs";
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { SeenFolder } from "./folder-watches.ts";

export type FolderLook = {
  readonly isPresent: boolean;
  readonly stamp: string;
  /** In which a notice may mean a change of what was looked at. */
  readonly folders: readonly SeenFolder[];
};

const maxEntries = 200_000;
const maxDepth = 32;

/** Never throws: what cannot be read is part of the stamp. */
export async function lookAtFolder(root: string, isDeep: boolean): Promise<FolderLook> {
  const parts: string[] = [];
  const folders = new Map<string, SeenFolder>(); // by identity
  const walked = new Set<string>(); // links may lead in circles
  const stats = await statOrAbsent(root);
  if (stats === undefined || !stats.isDirectory()) {
    // Its appearance is a change of the next folder above that is there.
    const above = await nearestAbove(root);
    return { isPresent: false, stamp: "absent", folders: above === undefined ? [] : [above] };
  }
  await walk(root, stats, 0);
  // A folder that is moved away, or a link that leads elsewhere, shows in the folder above.
  const above = await nearestAbove(root);
  if (above !== undefined && !folders.has(above.identity)) folders.set(above.identity, above);
  return { isPresent: true, stamp: parts.join("\n"), folders: [...folders.values()] };

  async function walk(folder: string, folderStats: BigIntStats, depth: number): Promise<void> {
    const identity = identityOf(folderStats);
    if (depth > maxDepth || walked.has(identity)) return;
    walked.add(identity);
    folders.set(identity, { path: folder, identity });
    parts.push(`${folder} ${identity}`);
    const names = await readdir(folder).catch((error: unknown) => {
      parts.push(String(error));
      return [];
    });
    for (const name of names.sort()) {
      if (parts.length >= maxEntries) return;
      await visit(join(folder, name), depth);
    }
  }

  async function visit(path: string, depth: number): Promise<void> {
    const own = await lstat(path, { bigint: true }).catch(() => undefined);
    if (own === undefined) return; // gone since the folder was read: a change that the next look sees
    const target = own.isSymbolicLink() ? await statOrAbsent(path) : own;
    parts.push(`${path} ${identityOf(own)} ${target === undefined ? "leads nowhere" : contentOf(target)}`);
    // Not into .git and the like; where a link leads into a hidden folder, as in a mounted Secret, its target is looked at below.
    if (target?.isDirectory() && isDeep && !basename(path).startsWith(".")) await walk(path, target, depth + 1);
    // A file behind a link changes by a write in the folder where it really lies.
    else if (own.isSymbolicLink() && target !== undefined) await addHome(path);
  }

  async function addHome(link: string): Promise<void> {
    const real = await realpath(link).catch(() => undefined);
    const home = real === undefined ? undefined : await statOrAbsent(dirname(real));
    if (real === undefined || home === undefined || folders.has(identityOf(home))) return;
    const identity = identityOf(home);
    folders.set(identity, { path: dirname(real), identity });
  }
}

async function nearestAbove(path: string): Promise<SeenFolder | undefined> {
  for (let below = path; dirname(below) !== below; below = dirname(below)) {
    const folder = dirname(below);
    const stats = await statOrAbsent(folder);
    if (stats?.isDirectory()) return { path: folder, identity: identityOf(stats), only: basename(below) };
  }
  return undefined;
}

async function statOrAbsent(path: string): Promise<BigIntStats | undefined> {
  return await stat(path, { bigint: true }).catch(() => undefined);
}

function identityOf(stats: BigIntStats): string {
  return `${stats.dev}:${stats.ino}`;
}

// A folder's own time changes with its entries: they are looked at themselves where they matter.
function contentOf(stats: BigIntStats): string {
  if (stats.isDirectory()) return identityOf(stats);
  return `${identityOf(stats)} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
}
