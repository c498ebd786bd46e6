// How this very program is started again, as another process: with the same Node, by its launcher; or as the single executable that it is.
import { ownFile } from "../../shared/own-file.ts";

export type Launcher = { readonly words: readonly string[]; readonly file: string };

export function launcher(): Launcher {
  const file = ownFile("bin/cattail");
  if (file !== undefined) return { words: [process.execPath, file], file };
  return { words: [process.execPath], file: process.execPath };
}
