// How this very program is started again, as another process: with the same Node, by its launcher; or as the single executable that it is.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export type Launcher = { readonly words: readonly string[]; readonly file: string };

export function launcher(): Launcher {
  const file = fileURLToPath(new URL("../../../../bin/cattail", import.meta.url));
  if (existsSync(file)) return { words: [process.execPath, file], file };
  return { words: [process.execPath], file: process.execPath };
}
