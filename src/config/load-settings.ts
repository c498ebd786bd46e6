// Reads the settings of this process: its environment and its configuration file. The one place of this folder that
// touches the world.
import { accessSync, readFileSync } from "node:fs";
import { CattailError } from "../lib/index.ts";
import { type Environment, type ReadSettings, readSettings } from "./read-settings.ts";

export const defaultConfigFile = "/etc/calico/typha.cfg";

/** Throws one error that lists everything wrong. A file that is not there is fine, as in the original. */
export function loadSettings(options: { environment: Environment; configFile?: string }): ReadSettings {
  const path = options.configFile ?? defaultConfigFile;
  const text = readConfigFile(path);
  const read = readSettings({
    environment: options.environment,
    ...(text === undefined ? {} : { file: { path, text } }),
    checks: { exists },
  });
  if (read.problems.length === 0) {
    if (text !== undefined || options.configFile === undefined) return read;
    return { ...read, warnings: [...read.warnings, `the configuration file ${path} does not exist`] };
  }
  const list =
    read.problems.length === 1 ? read.problems[0] : read.problems.map((problem) => `\n  - ${problem}`).join("");
  throw new CattailError("SETTINGS_INVALID", {
    problem: `${read.problems.length === 1 ? "a setting is wrong: " : `${read.problems.length} settings are wrong:`}${list}`,
    next: `"cattail typha --help" lists every setting; "cattail typha --print-settings" shows where each value comes from`,
  });
}

function readConfigFile(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    if (code === "ENOENT") return undefined;
    throw new CattailError("SETTINGS_FILE_UNREADABLE", {
      problem: `the configuration file ${path} cannot be read (${code})`,
      next: "Check its path and permissions, or leave out --config-file",
      cause: error,
    });
  }
}

function exists(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false; // the caller says so, with the setting's name
  }
}
