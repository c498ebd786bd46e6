// A folder with all those above it. Step by step: Node's own way (`recursive`) never ends below folders that take no new ones,
// such as /proc, and keeps a thread busy for ever.
import { mkdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

/** One that is there already is as good as one that was made. */
export async function makeFolders(folder: string, mode = 0o755): Promise<void> {
  const make = () => mkdir(folder, { mode });
  try {
    await make().catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT" || dirname(folder) === folder) throw error;
      await makeFolders(dirname(folder), mode);
      await make();
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** For programs that do one thing after the other, and are as well off waiting. */
export function makeFoldersSync(folder: string, mode = 0o755): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // what mkdirSync throws
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || dirname(folder) === folder) throw error;
    makeFoldersSync(dirname(folder), mode);
    makeLast(folder, mode);
  }
}

/** Another process may be faster. */
function makeLast(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
