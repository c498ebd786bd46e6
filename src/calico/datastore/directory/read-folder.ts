// A folder of manifests, or one file, read once and never written to: for whoever only wants to look, and must leave nothing
// behind in somebody's checkout. Who wants to write, or to follow, opens the directory datastore.
import { statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { CattailError } from "../../../base/lib/index.ts";
import type { Kind } from "../../kinds/index.ts";
import type { ObjectId } from "../datastore.ts";
import type { ManifestProblem } from "../manifest-problem.ts";
import { createMemoryDatastore, type MemoryDatastore } from "../memory/memory-datastore.ts";
import { filledIn } from "./filled-in.ts";
import { ManifestFolder, objectKey } from "./manifest-folder.ts";
import { scanFolder } from "./scan-folder.ts";

export type FolderAsRead = {
  readonly datastore: MemoryDatastore;
  readonly problems: readonly ManifestProblem[];
  /** The file that says the object, below the folder; undefined: none does. */
  readonly fileOf: (kind: Kind, id: ObjectId) => string | undefined;
};

export async function readFolder(path: string): Promise<FolderAsRead> {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined)
    throw new CattailError("FOLDER_MISSING", {
      problem: `there is no folder or file ${path}`,
      next: "Give the folder that holds the manifests",
    });
  const folder = new ManifestFolder(stats.isDirectory() ? path : dirname(path));
  const touched = stats.isDirectory() ? folder.apply(await scanFolder(path)) : new Set<string>();
  if (!stats.isDirectory()) folder.read(basename(path), touched);
  const datastore = createMemoryDatastore();
  let at = 0n;
  for (const key of [...touched].sort()) {
    const definition = folder.definition(key);
    if (definition === undefined) continue;
    const { kind, id, value } = definition.object;
    at += 1n;
    datastore.place(kind, id, { value: filledIn(value, kind, id), at });
  }
  return {
    datastore,
    problems: folder.problems(),
    fileOf: (kind, id) => folder.definition(objectKey({ kind, id }))?.file,
  };
}
