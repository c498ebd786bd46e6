// Which node this is. The order is the original's: the configuration, the file that the node's agent writes, the deprecated field, the
// host's own name in lower case. Space around the name in the file is no part of it: the original takes it for one, and finds no such node.
// A file that cannot be read (a folder, which a container's mount has made) is passed over like one that is not there.
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { messageOf } from "../../base/lib/index.ts";
import { errnoOf } from "../../base/linux/files.ts";
import type { NetworkConfiguration } from "./configuration.ts";

export async function nodeNameOf(
  { nodename, nodenameFile, hostname: old }: NetworkConfiguration,
  warn: (text: string) => void = () => undefined,
): Promise<string> {
  return nodename ?? ((await contentOf(nodenameFile, warn)) || (old ?? hostname().toLowerCase()));
}

async function contentOf(file: string, warn: (text: string) => void): Promise<string> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") warn(`the node's name is not read from ${file}: ${messageOf(error)}`);
    return "";
  }
}
