// What the environment and the file of this process say: FELIX_* in any case, and an INI file.
import { readFileSync } from "node:fs";
import { type Environment, parseIni } from "../../base/config/index.ts";
import { CattailError } from "../../base/lib/index.ts";
import type { LocalSources } from "./live-settings.ts";
import type { Source } from "./resolve.ts";

export const defaultConfigFile = "/etc/calico/felix.cfg";

/** The usual file need not be there; one that somebody named must be. */
export function readLocalSources(options: { environment: Environment; configFile?: string }): LocalSources {
  const path = options.configFile ?? defaultConfigFile;
  const text = readText(path);
  if (text === undefined && options.configFile !== undefined && path !== "") throw unreadable(path, "does not exist");
  return { environment: fromEnvironment(options.environment), file: text === undefined ? {} : fromFile(path, text) };
}

export function fromEnvironment(environment: Environment): Source {
  const found = Object.entries(environment).flatMap(([name, text]) =>
    /^felix_/i.test(name) && text !== undefined && !isServiceVariable(name) ? [[name.slice(6), text]] : [],
  );
  return Object.fromEntries(found);
}

/** What Kubernetes sets in every pod for a service whose name starts with felix. */
function isServiceVariable(name: string): boolean {
  return /_SERVICE_(HOST|PORT)|_PORT(_|$)/.test(name);
}

function fromFile(path: string, text: string): Source {
  const ini = parseIni(text);
  if (ini.is === "broken") throw unreadable(path, `cannot be read as settings: ${ini.why}`);
  return Object.fromEntries(ini.entries.map(({ key, value }) => [key, value]));
}

function readText(path: string): string | undefined {
  try {
    return path === "" ? undefined : readFileSync(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    if (code === "ENOENT") return undefined;
    throw unreadable(path, `cannot be read (${code})`, error);
  }
}

function unreadable(path: string, why: string, cause?: unknown): CattailError {
  return new CattailError("SETTINGS_FILE_UNREADABLE", {
    problem: `the configuration file ${path} ${why}`,
    next: "Check its path and permissions, or remove --config-file",
    ...(cause === undefined ? {} : { cause }),
  });
}
