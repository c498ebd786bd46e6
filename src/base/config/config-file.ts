// The file of a program's settings, as text. The usual file need not be there; one that somebody named must be, or the program would run with other
// settings than they meant.
import { readFileSync } from "node:fs";
import { CattailError } from "../lib/index.ts";

/** An empty name is no file. */
export function readConfigFile(named: string | undefined, usual: string): { path: string; text: string | undefined } {
  const path = named ?? usual;
  if (path === "") return { path, text: undefined };
  try {
    return { path, text: readFileSync(path, "utf8") };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    if (code !== "ENOENT") throw unreadableConfigFile(path, `cannot be read (${code})`, error);
    if (named !== undefined) throw unreadableConfigFile(path, "does not exist", error);
    return { path, text: undefined };
  }
}

export function unreadableConfigFile(path: string, why: string, cause?: unknown): CattailError {
  return new CattailError("SETTINGS_FILE_UNREADABLE", {
    problem: `the configuration file ${path} ${why}`,
    next: "Check its path and permissions, or remove --config-file",
    ...(cause === undefined ? {} : { cause }),
  });
}
