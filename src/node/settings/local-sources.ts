// What the environment and the file of this process say: FELIX_* in any case, and an INI file.
import { type Environment, parseIni, readConfigFile, unreadableConfigFile } from "../../base/config/index.ts";
import type { LocalSources } from "./live-settings.ts";
import type { Source } from "./resolve.ts";

export const defaultConfigFile = "/etc/calico/felix.cfg";

export function readLocalSources(options: { environment: Environment; configFile?: string }): LocalSources {
  const { path, text } = readConfigFile(options.configFile, defaultConfigFile);
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
  if (ini.is === "broken") throw unreadableConfigFile(path, `cannot be read as settings: ${ini.why}`);
  return Object.fromEntries(ini.entries.map(({ key, value }) => [key, value]));
}
