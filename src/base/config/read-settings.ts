// Environment and file to settings: a pure function over the table. Everything wrong is collected, so that the user
// mends it in one go; what is only odd (unknown names, values without effect) becomes a warning.
import { nearest } from "../lib/index.ts";
import { checkTogether } from "./check-together.ts";
import { type IniEntry, parseIni } from "./ini.ts";
import { isSecretName, redacted } from "./redact.ts";
import type { Setting } from "./setting.ts";
import { type TypeChecks, withoutCredentials } from "./setting-types.ts";
import { type SettingName, type Settings, settingNames, settingsTable, settingsWith } from "./settings.ts";

export type Origin =
  | { readonly from: "default" }
  | { readonly from: "environment"; readonly name: string }
  | { readonly from: "file"; readonly path: string; readonly line: number };

export type Environment = { readonly [name: string]: string | undefined };

export type ReadSettings = {
  readonly values: Settings;
  readonly origins: ReadonlyMap<SettingName, Origin>;
  /** Not empty: the values must not be used. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
};

type Found = { origin: Exclude<Origin, { from: "default" }>; text: string };

export function readSettings(sources: {
  environment: Environment;
  file?: { path: string; text: string };
  checks: TypeChecks;
}): ReadSettings {
  const problems: string[] = [];
  const warnings: string[] = [];
  const inEnvironment = findInEnvironment(sources.environment, warnings);
  const inFile = sources.file === undefined ? new Map() : findInFile(sources.file, { problems, warnings });
  const values: { -readonly [Name in keyof Settings]?: unknown } = {};
  const origins = new Map<SettingName, Origin>();
  const wrong = new Map<SettingName, string>();
  for (const name of settingNames) {
    const setting: Setting = settingsTable[name] as Setting; // the row's own value type does not matter here
    const found = [...(inEnvironment.get(name) ?? []), ...(inFile.get(name) ?? [])];
    const parsed = found.map((one) => ({ ...one, ...parseFound(setting, one, sources.checks) }));
    const [first, ...overridden] = parsed;
    if (first?.problem !== undefined) wrong.set(name, first.problem);
    for (const one of overridden) if (one.problem !== undefined) warnings.push(`${one.problem} (it is overridden)`);
    values[name] = first?.problem === undefined && first !== undefined ? first.value : setting.default;
    origins.set(name, first?.origin ?? { from: "default" });
  }
  const settings = { ...settingsWith(), ...(values as Settings) }; // every name was given its own type's value above
  for (const [name, problem] of wrong) {
    if (isUsed(name, settings, wrong)) problems.push(problem);
    else warnings.push(`${problem} (it has no effect: the datastore is ${settings.datastoreType})`);
  }
  const together = checkTogether({ settings, environment: sources.environment, wrong: new Set(wrong.keys()) });
  problems.push(...together.problems);
  warnings.push(...together.warnings);
  return { values: together.settings, origins, problems, warnings };
}

/**
 * The variables about the Kubernetes API are everybody's, proxies above all: one that nothing here asks for must not keep
 * a server from starting. The original, too, reads them only for its Kubernetes datastore.
 */
function isUsed(name: SettingName, settings: Settings, wrong: ReadonlyMap<SettingName, string>): boolean {
  if (settingsTable[name].group !== "kubernetes" || wrong.has("datastoreType")) return true;
  const { datastoreType, connectionRebalancingMode } = settings;
  return datastoreType === "kubernetes" || (datastoreType === "etcdv3" && connectionRebalancingMode === "kubernetes");
}

function parseFound(setting: Setting, found: Found, checks: TypeChecks): { value?: unknown; problem?: string } {
  const { text, origin } = found;
  const isParameter = setting.fileKey !== undefined;
  if (isParameter && text.toLowerCase() === "none" && !isOwnValue(setting, text, checks)) {
    if (!setting.nonZero) return { value: positive(setting, setting.type.zero) };
    return { problem: `${where(origin, setting)} is none, but it must have a value: ${setting.type.allowed}` };
  }
  const parsed = setting.type.parse(text, checks);
  if (parsed.ok) return { value: positive(setting, parsed.value) };
  const isSecret = isSecretName(setting.env[0] ?? "");
  const shown = isSecret ? redacted : JSON.stringify(withoutCredentials(text).slice(0, 256));
  return { problem: `${where(origin, setting)} is ${shown}, but must be ${setting.type.allowed}: ${parsed.why}` };
}

/** "none" can be one of the values to choose from; then it is itself. */
function isOwnValue(setting: Setting, text: string, checks: TypeChecks): boolean {
  return setting.type.allowed.startsWith("one of") && setting.type.parse(text, checks).ok;
}

function positive(setting: Setting, value: unknown): unknown {
  const { whenNotPositive } = setting;
  return whenNotPositive !== undefined && typeof value === "number" && value <= 0 ? whenNotPositive : value;
}

function where(origin: Found["origin"], setting: Setting): string {
  return origin.from === "environment"
    ? `${origin.name} (environment)`
    : `${setting.fileKey} (${origin.path}, line ${origin.line})`;
}

const parameterNames: ReadonlyMap<string, SettingName> = new Map(
  settingNames.flatMap((name) => {
    const { fileKey } = settingsTable[name];
    return fileKey === undefined ? [] : [[fileKey.toLowerCase(), name] as const];
  }),
);
const envOnly = settingNames.filter((name) => settingsTable[name].fileKey === undefined);
const knownTyphaNames = settingNames
  .flatMap((name): readonly string[] => settingsTable[name].env)
  .filter((name) => name.startsWith("TYPHA_"));

function findInEnvironment(environment: Environment, warnings: string[]): Map<SettingName, Found[]> {
  const found = new Map<SettingName, Found[]>();
  const note = (name: SettingName, variable: string, text: string) =>
    found.set(name, [...(found.get(name) ?? []), { origin: { from: "environment", name: variable }, text }]);
  for (const [variable, text = ""] of Object.entries(environment)) {
    if (!/^typha_/i.test(variable)) continue;
    const name = parameterNames.get(variable.slice("typha_".length).toLowerCase());
    if (name !== undefined) {
      if (text !== "") note(name, variable, text);
    } else if (!knownTyphaNames.includes(variable.toUpperCase()) && !isServiceVariable(variable, text)) {
      warnings.push(
        unknownName(variable, "the environment", knownTyphaNames, nearest(variable.toUpperCase(), knownTyphaNames)),
      );
    }
  }
  for (const name of envOnly) {
    const { env, emptyCounts } = settingsTable[name];
    for (const variable of env) {
      const text = environment[variable];
      if (text !== undefined && (text !== "" || emptyCounts)) note(name, variable, text);
    }
  }
  return found;
}

/** The variables that Kubernetes sets in every pod for a service whose name starts with "typha". */
function isServiceVariable(name: string, value: string): boolean {
  if (/_SERVICE_(HOST|PORT)(_[A-Z0-9_]+)?$/.test(name)) return true;
  if (/_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name)) return true;
  return /_PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value);
}

function findInFile(
  file: { path: string; text: string },
  to: { problems: string[]; warnings: string[] },
): Map<SettingName, Found[]> {
  const found = new Map<SettingName, Found[]>();
  const ini = parseIni(file.text);
  if (ini.is === "broken") {
    to.problems.push(`${file.path} cannot be read as settings: ${ini.why}`);
    return found;
  }
  const last = new Map<string, IniEntry>();
  for (const entry of ini.entries) {
    const before = last.get(entry.key);
    if (before !== undefined && before.section !== entry.section) {
      to.warnings.push(
        `${entry.key} is in ${file.path} twice; line ${entry.line} counts, line ${before.line} does not`,
      );
    }
    last.delete(entry.key);
    last.set(entry.key, entry);
  }
  for (const { key, value, line } of last.values()) {
    const name = parameterNames.get(key.toLowerCase());
    if (name === undefined) {
      const known = [...parameterNames.values()].map((one) => settingsTable[one].fileKey ?? one);
      to.warnings.push(unknownName(key, `${file.path}, line ${line}`, known, nearest(key, known)));
    } else if (value !== "") found.set(name, [{ origin: { from: "file", path: file.path, line }, text: value }]);
  }
  return found;
}

function unknownName(name: string, source: string, known: readonly string[], near: string | undefined): string {
  const meant =
    near === undefined ? `there are ${known.length} settings, see docs/reference/settings.md` : `did you mean ${near}?`;
  return `${JSON.stringify(name.slice(0, 256))} (${source}) is not a setting and has no effect; ${meant}`;
}
