// What a runtime starts as calico and calico-ipam, put where it looks for them.
//
//   the single executable:   copied to calico; calico-ipam is a second name of the same file
//   any other installation:  a file of three lines that starts the installation's thin plugin (bin/cni-plugin.cjs) with this very Node, by absolute
//                            paths: a runtime's PATH has another Node, or none
//
// Each is written beside its place and renamed, so that a runtime that starts it at this moment starts the old one or the new one.
import { constants, existsSync } from "node:fs";
import { access, chmod, copyFile, link, open, readdir, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isSea } from "node:sea";
import { CattailError, messageOf } from "../../../base/lib/index.ts";
import { removeFile, replaceFile } from "../../../base/linux/files.ts";
import { ownFile } from "../../shared/own-file.ts";
import type { InstallSettings } from "./settings.ts";

const pluginNames = ["calico", "calico-ipam"] as const;

/** What is put there under both names. */
export type PluginProgram =
  | { readonly is: "executable"; readonly file: string }
  | { readonly is: "launcher"; readonly text: string };

export type Say = (line: string) => void;

const mark = "// Written by `cattail cni install`";

/** Of this very program. Throws CattailError where no host could start it. */
export function ownProgram(options: { readonly isMounted: boolean }): PluginProgram {
  if (isSea()) return { is: "executable", file: process.execPath };
  const thin = ownFile("bin/cni-plugin.cjs");
  if (thin === undefined || options.isMounted || !isUsable(process.execPath)) throw notForHosts(options.isMounted);
  return { is: "launcher", text: launcher(process.execPath, thin) };
}

export function launcher(node: string, thin: string): string {
  return `#!${node}\n${mark}: starts the CNI plugins of the installation it names.\nglobalThis.cattailCniLauncher = __filename;\nrequire(${JSON.stringify(thin)});\n`;
}

/** What the kernel takes behind #!: one word, and not too long. */
function isUsable(path: string): boolean {
  return path.startsWith("/") && path.length < 120 && !/\s/.test(path);
}

function notForHosts(isMounted: boolean): CattailError {
  return new CattailError("CNI_NOT_INSTALLABLE", {
    problem: isMounted
      ? "this Cattail runs in a container with a Node of its own, which the host does not have"
      : `this Cattail cannot be started by a runtime: its Node is ${process.execPath}`,
    next: "Use the single executable (npm run build:binary, or the image of Dockerfile.node), or install where host and Node are the same machine's, in a path without spaces",
  });
}

/** In every folder that can be written to; those are what it answers. */
export async function installPrograms(settings: InstallSettings, program: PluginProgram, say: Say): Promise<string[]> {
  const { folders, updates } = settings;
  const done: string[] = [];
  for (const folder of folders.bins) {
    if (!(await isWritable(folder))) {
      say(`${folder} cannot be written to: nothing is put there`);
      continue;
    }
    await installInto(folder, program, { updates, say });
    if (settings.brought !== undefined) await installBrought(settings.brought, folder, { ...settings, say });
    done.push(folder);
  }
  if (done.length > 0) return done;
  // A host whose image has the plugins in a read-only folder is content.
  const has = updates
    ? undefined
    : folders.bins.find((folder) => pluginNames.every((name) => existsSync(join(folder, name))));
  if (has !== undefined) {
    say(`the plugins in ${has} are kept (UPDATE_CNI_BINARIES is false)`);
    return [has];
  }
  throw new CattailError("CNI_NO_BIN_FOLDER", {
    problem: `none of the folders for plugins can be written to: ${folders.bins.join(", ")}`,
    next: "Make the folder (mkdir -p /opt/cni/bin), mount it at /host/opt/cni/bin, or run this as root",
  });
}

type Into = { readonly updates: boolean; readonly say: Say };

async function installInto(folder: string, program: PluginProgram, { updates, say }: Into): Promise<void> {
  const [first, second] = pluginNames.map((name) => join(folder, name));
  if (first === undefined || second === undefined) return;
  for (const target of [first, second]) {
    if (!updates && existsSync(target)) say(`${target} is kept (UPDATE_CNI_BINARIES is false)`);
    else if (program.is === "launcher") await putText(target, program.text, say);
    else if (target === second && updates) await putLink(first, target, say);
    else await putCopy(program.file, target, say);
  }
}

async function putText(target: string, text: string, say: Say): Promise<void> {
  const mode = 0o755;
  if ((await contentOf(target)) === text && ((await stat(target)).mode & 0o777) === mode)
    return say(`${target} is up to date`);
  await replaceFile(target, text, { mode });
  say(`installed ${target}`);
}

async function contentOf(file: string): Promise<string | undefined> {
  try {
    const { size } = await stat(file);
    return size > 1 << 16 ? undefined : await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined; // what stat throws
    throw error;
  }
}

/** With its mode. Nothing is written where the same is there. */
export async function putCopy(source: string, target: string, say: Say): Promise<void> {
  if (await isSameFile(source, target)) return say(`${target} is up to date`);
  const temporary = `${target}.tmp`;
  try {
    await rm(temporary, { force: true }); // of one that was killed
    await copyFile(source, temporary, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    await chmod(temporary, (await stat(source)).mode & 0o7777);
    await synced(temporary);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw unwritable(target, error);
  }
  say(`installed ${target}`);
}

/** A hundred megabytes need not lie there twice; where the file system knows no second names, they do. */
async function putLink(existing: string, target: string, say: Say): Promise<void> {
  const [one, other] = [await stat(existing), await stat(target).catch(() => undefined)]; // none there: not the same
  if (one.ino === other?.ino && one.dev === other.dev) return say(`${target} is up to date`);
  const temporary = `${target}.tmp`;
  try {
    await rm(temporary, { force: true });
    await link(existing, temporary);
    await rename(temporary, target);
  } catch {
    return await putCopy(existing, target, say);
  }
  say(`installed ${target}`);
}

async function isSameFile(source: string, target: string): Promise<boolean> {
  const [a, b] = [await stat(source), await stat(target).catch(() => undefined)]; // none there: not the same
  if (b === undefined || a.size !== b.size || a.mode !== b.mode) return false;
  if (a.ino === b.ino && a.dev === b.dev) return true;
  await using one = await open(source);
  await using other = await open(target);
  const [left, right] = [Buffer.alloc(1 << 20), Buffer.alloc(1 << 20)];
  for (let at = 0; at < a.size; ) {
    const { bytesRead } = await one.read(left, 0, left.length, at);
    const { bytesRead: same } = await other.read(right, 0, left.length, at);
    if (bytesRead === 0 || bytesRead !== same || !left.subarray(0, bytesRead).equals(right.subarray(0, same)))
      return false;
    at += bytesRead;
  }
  return true;
}

/** Other plugins of the image (portmap, bandwidth), but for those that are to be left out. */
async function installBrought(
  from: string,
  folder: string,
  { skipped, updates, say }: Pick<InstallSettings, "skipped" | "updates"> & { readonly say: Say },
): Promise<void> {
  const own: readonly string[] = [...pluginNames, "install"];
  for (const entry of existsSync(from) ? await readdir(from, { withFileTypes: true }) : []) {
    const { name } = entry;
    if (!entry.isFile() || own.includes(name) || skipped.includes(name)) continue;
    const target = join(folder, name);
    if (!updates && existsSync(target)) say(`${target} is kept (UPDATE_CNI_BINARIES is false)`);
    else await putCopy(join(from, name), target, say);
  }
}

/** Those that are ours; what somebody else put there stays. */
export async function removePrograms(
  settings: InstallSettings,
  program: PluginProgram | undefined,
  say: Say,
): Promise<void> {
  for (const folder of settings.folders.bins)
    for (const target of pluginNames.map((name) => join(folder, name))) {
      if (!existsSync(target)) continue;
      if (await isOurs(target, program)) {
        await removeFile(target);
        say(`removed ${target}`);
      } else say(`${target} is not of this Cattail, and stays`);
    }
}

async function isOurs(target: string, program: PluginProgram | undefined): Promise<boolean> {
  if ((await contentOf(target))?.includes(mark) === true) return true;
  const leadsTo = await realpath(target);
  if (leadsTo !== target && ["cattail", "cni-plugin.cjs"].includes(leadsTo.slice(dirname(leadsTo).length + 1)))
    return true;
  return program?.is === "executable" && (await isSameFile(program.file, target));
}

async function isWritable(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.W_OK);
    return (await stat(folder)).isDirectory();
  } catch {
    return false; // not there, or not ours to write to
  }
}

async function synced(file: string): Promise<void> {
  await using handle = await open(file);
  await handle.sync();
}

function unwritable(target: string, error: unknown): CattailError {
  return new CattailError("FILE_UNWRITABLE", {
    problem: `${target} cannot be written (${messageOf(error)})`,
    next: "Check that its folder can be written to, and that the disk is not full",
    cause: error,
  });
}
