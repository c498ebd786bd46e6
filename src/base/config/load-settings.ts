// Reads the settings of this process: its environment and its configuration file. The one place of this folder that
// touches the world.
import { accessSync, readFileSync } from "node:fs";
import { CattailError } from "../lib/index.ts";
import { type Environment, type ReadSettings, readSettings } from "./read-settings.ts";

export const defaultConfigFile = "/etc/calico/typha.cfg";

/**
 * Throws one error that lists everything wrong. The usual file need not be there; one that somebody named must be, or
 * the server would run with other settings than they meant. "" names none, for a server that nothing on the machine may
 * change.
 */
export function loadSettings(options: { environment: Environment; configFile?: string }): ReadSettings {
  const path = options.configFile ?? defaultConfigFile;
  const text = readConfigFile(path);
  const read = readSettings({
    environment: options.environment,
    ...(text === undefined ? {} : { file: { path, text } }),
    checks: { exists },
  });
  if (text === undefined && path !== "" && options.configFile !== undefined) throw unreadable(path, "does not exist");
  if (read.problems.length === 0) return read;
  throw new CattailError("SETTINGS_INVALID", {
    problem: describeProblems(read),
    next: `"cattail typha --help" lists every setting and what it may be; once these are right, "cattail typha --print-settings" shows them all`,
  });
}

/** Warnings as well: a name that was misspelt beside a wrong value is to be mended in the same go. */
function describeProblems({ problems, warnings }: ReadSettings): string {
  const listed = (lines: readonly string[]) =>
    lines.length === 1 ? ` ${lines[0]}` : lines.map((line) => `\n  - ${line}`).join("");
  const wrong = problems.length === 1 ? "a setting is wrong:" : `${problems.length} settings are wrong:`;
  return `${wrong}${listed(problems)}${warnings.length === 0 ? "" : `\nbesides:${listed(warnings)}`}`;
}

function readConfigFile(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    if (code === "ENOENT") return undefined;
    throw unreadable(path, `cannot be read (${code})`, error);
  }
}

function unreadable(path: string, why: string, cause?: unknown): CattailError {
  return new CattailError("SETTINGS_FILE_UNREADABLE", {
    problem: `the configuration file ${path} ${why}`,
    next: "Check its path and permissions, or leave out --config-file",
    ...(cause === undefined ? {} : { cause }),
  });
}

function exists(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false; // the caller says so, with the setting's name
  }
}
