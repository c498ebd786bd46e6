// Which manifest files a folder holds, and whether each is still the one that was read. Follows symlinks, as mounted
// ConfigMaps are made of them; names that start with a dot are not for us (there they are the machinery of the swap).
import type { BigIntStats } from "node:fs";
import { lstat, readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { messageOf } from "../../../base/lib/index.ts";
import { isTemporaryName } from "../../../base/linux/files.ts";
import { isPassingName } from "./file-names.ts";

export type FoundFile = {
  readonly path: string;
  readonly name: string;
  readonly stamp: string;
  readonly bytes: number;
};
/** A folder and which one it is: another may take its place under the same path. */
export type FoundFolder = { readonly path: string; readonly identity: string };
export type Scan = {
  /** In the order of their names, which decides between two files that hold the same object. */
  readonly files: readonly FoundFile[];
  /** Every folder met, to be watched. */
  readonly folders: readonly FoundFolder[];
  readonly unreadable: readonly { readonly name: string; readonly says: string }[];
  /** Folders in which a writer left a temporary file: it is at work, or it died. */
  readonly unfinished: readonly string[];
};

const maxFiles = 100_000;
const maxDepth = 32;

/** Throws when the folder itself cannot be read. What is below it and cannot be read is in `unreadable`. */
export async function scanFolder(root: string): Promise<Scan> {
  const files: FoundFile[] = [];
  const folders: FoundFolder[] = [];
  const unreadable: { name: string; says: string }[] = [];
  const unfinished: string[] = [];
  const met = new Set<string>(); // folders by device and inode: symlinks may lead in circles

  await walk(root, await stat(root, { bigint: true }), 0);
  files.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { files, folders, unreadable, unfinished };

  async function walk(folder: string, stats: BigIntStats, depth: number): Promise<void> {
    const identity = `${stats.dev}:${stats.ino}`;
    if (met.has(identity) || depth > maxDepth) return;
    met.add(identity);
    const names = await readdir(folder);
    folders.push({ path: folder, identity });
    if (names.some(isTemporaryName)) unfinished.push(folder);
    for (const name of names.sort()) {
      if (isPassingName(name)) continue;
      const path = join(folder, name);
      try {
        await visit(path, depth);
      } catch (error) {
        if (isGone(error) && !(await lstat(path).catch(() => undefined))) continue; // removed since the folder was read
        unreadable.push({ name: relative(root, path), says: reasonOf(error) });
      }
    }
  }

  async function visit(path: string, depth: number): Promise<void> {
    const stats = await stat(path, { bigint: true });
    if (stats.isDirectory()) return walk(path, stats, depth + 1);
    if (!stats.isFile() || !/\.(ya?ml|json)$/i.test(path)) return;
    if (files.length >= maxFiles) throw new Error(`more than ${maxFiles} manifest files`);
    files.push({ path, name: relative(root, path), stamp: stampOf(stats), bytes: Number(stats.size) });
  }
}

export function stampOf(stats: BigIntStats): string {
  return [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(":");
}

function isGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOENT") return "is a symlink to nothing";
  if (code === "EACCES") return "may not be read by this user";
  return messageOf(error);
}
