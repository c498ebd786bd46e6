// The folders and the two small files of a node. Folders that are missing were not mounted into the container: they are made, and it is said what is
// lost with the container.
import { constants, lchown, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock, Log } from "../../base/lib/index.ts";
import { errnoOf, makeFolders, replaceFile } from "../../base/linux/files.ts";
import type { NodeSettings } from "./settings/table.ts";
import { startupError } from "./startup-error.ts";

const folders = {
  run: "/var/run/calico",
  lib: "/var/lib/calico",
  log: "/var/log/calico",
} as const;

const lost = {
  run: "'calicoctl node status' may provide incomplete status information",
  lib: "Node name may not be detected properly",
  log: "'calicoctl node diags' will not be able to collect calico/node logs",
} as const;

export async function ensureFolders(
  { backend, disableFileLogging }: Pick<NodeSettings, "backend" | "disableFileLogging">,
  log: Log,
): Promise<void> {
  if (backend.toLowerCase() === "bird") await ensureFolder("run", log);
  await ensureFolder("lib", log);
  if (!disableFileLogging) await ensureFolder("log", log);
}

async function ensureFolder(which: keyof typeof folders, log: Log): Promise<void> {
  const path = folders[which];
  if (await exists(path)) return;
  try {
    await makeFolders(path);
  } catch (error) {
    throw startupError(`Unable to create '${path}'`, {
      cause: error,
      next: "Mount the folder into the container, or run it as root",
    });
  }
  log.warn(`Expected ${path} to be mounted into the container but it wasn't present. ${lost[which]}`);
}

export async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** What CNI waits for: written last, whole or not at all, without a line's end. */
export async function writeNameFile(path: string, node: string): Promise<void> {
  try {
    await replaceFile(path, node, { mode: 0o644 });
  } catch (error) {
    throw startupError(`Unable to write to ${path}`, {
      cause: error,
      next: `Mount ${dirname(path)} from the host so that this user may write to it`,
    });
  }
}

export async function writeShutdownTime(path: string, { clock, log }: { clock: Clock; log: Log }): Promise<void> {
  const time = new Date(Math.floor(clock.wallMs() / 1000) * 1000).toISOString().replace(".000Z", "Z");
  log.info(`Writing shutdown timestamp ${time} to ${path}`);
  try {
    await replaceFile(path, time, { mode: 0o644 });
  } catch (error) {
    // The node is marked nevertheless: that is what others look at.
    log.error("Unable to save shutdown timestamp", { error });
  }
}

export async function removeShutdownTime(path: string, log: Log): Promise<void> {
  let timestamp: string | undefined;
  try {
    timestamp = await readFile(path, "utf8");
    await rm(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return;
    throw startupError("Unable to remove shutdown timestamp file", {
      cause: error,
      next: `Remove ${path}, and see that this user may write to its folder`,
    });
  }
  log.info("removed shutdown timestamp", { timestamp });
}

/**
 * `node hostpath-init`: the folders of a calico-node that does not run as root. From the second time on they are that user's, who may have put links
 * there: none is followed.
 */
export async function initialiseHostPaths(uid: number): Promise<void> {
  for (const path of [folders.lib, folders.run, folders.log]) {
    await makeFolders(path, 0o700);
    await using _folder = await ownFolder(path, uid);
  }
  await ownLogs(join(folders.log, "cni"), uid);
}

/** The folder and the files in it: plugins may have written there already. */
export async function ownLogs(path: string, uid: number): Promise<void> {
  await makeFolders(path, 0o700);
  await using folder = await ownFolder(path, uid);
  const held = `/proc/self/fd/${folder.fd}`; // stays this folder, whatever becomes of its path
  for (const name of await readdir(held)) await lchown(join(held, name), uid, 0); // of a link itself, wherever it leads
}

async function ownFolder(path: string, uid: number) {
  try {
    const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    await folder.chown(uid, 0);
    return folder;
  } catch (error) {
    throw startupError(`Unable to give ${path} to user ${uid}`, {
      cause: error,
      next: "Run this as root. If the path is a link (ls -l), remove it: links are not followed here",
    });
  }
}
