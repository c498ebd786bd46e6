// The files that -f names: itself, or the manifests of a folder in the order of their names, those of folders below it in
// between with -R. Links are read where they lead to a file and not followed where they lead to a folder.
import { readdir, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { CtlError } from "../console.ts";
import { goWords } from "../file-error.ts";

export type Files = { readonly is: "file" | "folder"; readonly paths: readonly string[] };

const endings = [".yaml", ".yml", ".json"];

export async function listFiles(path: string, isRecursive: boolean): Promise<Files> {
  if (!(await isFolder(path))) return { is: "file", paths: [path] };
  return { is: "folder", paths: await manifestsIn(path, isRecursive) };
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false; // whoever opens it says why it cannot be opened
  }
}

async function manifestsIn(folder: string, isRecursive: boolean): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (isRecursive) found.push(...(await manifestsIn(path, true)));
    } else if (endings.includes(extname(entry.name).toLowerCase())) found.push(path);
  }
  return found;
}

async function entriesOf(folder: string) {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    throw new CtlError(`open ${folder}: ${goWords(error)}`, { cause: error });
  }
}
