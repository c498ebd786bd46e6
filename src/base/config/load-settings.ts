// Reads the settings of this process: its environment and its configuration file. With config-file.ts
// the place of this folder that touches the world.
import { existsSync } from "node:fs";
import { CattailError } from "../lib/index.ts";
import { readConfigFile } from "./config-file.ts";
import type { Environment, ProgramSettings } from "./program-settings.ts";
import { type ReadSettings, readSettings } from "./read-settings.ts";
import type { SettingsTable } from "./setting.ts";

/** An empty name is no file, for a program that nothing on the machine may change. */
export type LoadOptions = { readonly environment: Environment; readonly configFile?: string };

/** Throws one error that lists everything wrong. */
export function loadSettings<Table extends SettingsTable>(
  program: ProgramSettings<Table>,
  options: LoadOptions,
): ReadSettings<Table> {
  const { path, text } = readConfigFile(options.configFile, program.configFile);
  const read = readSettings(program, {
    environment: options.environment,
    ...(text === undefined ? {} : { file: { path, text } }),
    checks: { exists: existsSync },
  });
  if (read.problems.length === 0) return read;
  throw new CattailError("SETTINGS_INVALID", {
    problem: describeProblems(read),
    next: program.next,
  });
}

/** Warnings as well: a name that was misspelt beside a wrong value is to be mended in the same go. */
function describeProblems({ problems, warnings }: Pick<ReadSettings<unknown>, "problems" | "warnings">): string {
  const listed = (lines: readonly string[]) =>
    lines.length === 1 ? ` ${lines[0]}` : lines.map((line) => `\n  - ${line}`).join("");
  const wrong = problems.length === 1 ? "a setting is wrong:" : `${problems.length} settings are wrong:`;
  return `${wrong}${listed(problems)}${warnings.length === 0 ? "" : `\nbesides:${listed(warnings)}`}`;
}
