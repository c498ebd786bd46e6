// A file of the installation that this program belongs to, such as its launcher: a checkout, or the package. The bundler puts modules at other depths than
// the sources have, so the way up is searched. The single executable has no files beside it.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isSea } from "node:sea";

/** `name`: from the root of the checkout or package. */
export function ownFile(name: string): string | undefined {
  if (isSea()) return undefined; // a folder above it is the host's
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, name);
    if (existsSync(file)) return file;
  }
  return undefined;
}
