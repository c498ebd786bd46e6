// Which node this is. The order is the original's: the configuration, the file that the node's agent writes, the deprecated field, the
// host's own name in lower case. Space around the name in the file is no part of it: the original takes it for one, and finds no such node.
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { errnoOf } from "../../base/linux/files.ts";
import type { NetworkConfiguration } from "./configuration.ts";

export async function nodeNameOf({ nodename, nodenameFile, hostname: old }: NetworkConfiguration): Promise<string> {
  return nodename ?? ((await contentOf(nodenameFile)) || (old ?? hostname().toLowerCase()));
}

async function contentOf(file: string): Promise<string> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "";
    throw error;
  }
}
