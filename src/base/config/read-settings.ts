// Environment and file to settings: a pure function over a program's table. Everything wrong is collected, so that the user
// mends it in one go; what is only odd (unknown names, values without effect) becomes a warning.
import { nearest } from "../lib/index.ts";
import { type IniEntry, parseIni } from "./ini.ts";
import { type Environment, namesOf, type ProgramSettings, rowOf, settingsWith } from "./program-settings.ts";
import { isSecretName, redacted } from "./redact.ts";
import type { Setting, SettingsTable, ValuesOf } from "./setting.ts";
import { type TypeChecks, withoutCredentials } from "./setting-types.ts";

export type Origin =
  | { readonly from: "default" }
  | { readonly from: "environment"; readonly name: string }
  | { readonly from: "file"; readonly path: string; readonly line: number };

export type ReadSettings<Table> = {
  readonly values: ValuesOf<Table>;
  readonly origins: ReadonlyMap<keyof Table, Origin>;
  /** Not empty: the values must not be used. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
};

export type SettingSources = {
  readonly environment: Environment;
  readonly file?: { readonly path: string; readonly text: string };
  readonly checks: TypeChecks;
};

type Found = { origin: Exclude<Origin, { from: "default" }>; text: string };
type FoundByName<Table> = Map<keyof Table, Found[]>;

export function readSettings<Table extends SettingsTable>(
  program: ProgramSettings<Table>,
  sources: SettingSources,
): ReadSettings<Table> {
  const { table } = program;
  const problems: string[] = [];
  const warnings: string[] = [];
  const inEnvironment = findInEnvironment(program, sources.environment, warnings);
  const inFile: FoundByName<Table> =
    sources.file === undefined ? new Map() : findInFile(table, sources.file, { problems, warnings });
  const values: { -readonly [Name in keyof Table]?: unknown } = {};
  const origins = new Map<keyof Table, Origin>();
  const wrong = new Map<keyof Table, string>();
  for (const name of namesOf(table)) {
    const setting = rowOf(table, name);
    const found = [...(inEnvironment.get(name) ?? []), ...(inFile.get(name) ?? [])];
    const parsed = found.map((one) => ({ ...one, ...parseFound(setting, one, sources.checks) }));
    const [first, ...overridden] = parsed;
    if (first?.problem !== undefined) wrong.set(name, first.problem);
    for (const one of overridden) if (one.problem !== undefined) warnings.push(`${one.problem} (it is overridden)`);
    values[name] = first?.problem === undefined && first !== undefined ? first.value : setting.default;
    origins.set(name, first?.origin ?? { from: "default" });
  }
  const settings = settingsWith(table, values as ValuesOf<Table>); // every name was given its own type's value above
  const given = { settings, environment: sources.environment, wrong: new Set(wrong.keys()) };
  for (const [name, problem] of wrong) {
    const why = program.whyUnused(name, given);
    if (why === undefined) problems.push(problem);
    else warnings.push(`${problem} (it has no effect: ${why})`);
  }
  const together = program.checkTogether(given);
  problems.push(...together.problems);
  warnings.push(...together.warnings);
  return { values: together.settings, origins, problems, warnings };
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

/** The table's parameters by their names in the file, in small letters. */
function parametersOf<Table extends SettingsTable>(table: Table): Map<string, keyof Table & string> {
  return new Map(
    namesOf(table).flatMap((name) => {
      const { fileKey } = rowOf(table, name);
      return fileKey === undefined ? [] : [[fileKey.toLowerCase(), name] as const];
    }),
  );
}

function findInEnvironment<Table extends SettingsTable>(
  { table, prefix }: ProgramSettings<Table>,
  environment: Environment,
  warnings: string[],
): FoundByName<Table> {
  const found: FoundByName<Table> = new Map();
  const note = (name: keyof Table, variable: string, text: string) =>
    found.set(name, [...(found.get(name) ?? []), { origin: { from: "environment", name: variable }, text }]);
  const parameters = parametersOf(table);
  const known = namesOf(table)
    .flatMap((name) => rowOf(table, name).env)
    .filter((name) => name.startsWith(prefix));
  for (const [variable, text = ""] of Object.entries(environment)) {
    if (!variable.toUpperCase().startsWith(prefix)) continue;
    const name = parameters.get(variable.slice(prefix.length).toLowerCase());
    if (name !== undefined) {
      if (text !== "") note(name, variable, text);
    } else if (!known.includes(variable.toUpperCase()) && !isServiceVariable(variable, text)) {
      warnings.push(unknownName(variable, "the environment", known, nearest(variable.toUpperCase(), known)));
    }
  }
  for (const name of namesOf(table)) {
    const { env, emptyCounts, fileKey } = rowOf(table, name);
    for (const variable of fileKey === undefined ? env : []) {
      const text = environment[variable];
      if (text !== undefined && (text !== "" || emptyCounts)) note(name, variable, text);
    }
  }
  return found;
}

/** The variables that Kubernetes sets in every pod for a service whose name starts as our prefix does. */
function isServiceVariable(name: string, value: string): boolean {
  if (/_SERVICE_(HOST|PORT)(_[A-Z0-9_]+)?$/.test(name)) return true;
  if (/_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name)) return true;
  return /_PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value);
}

function findInFile<Table extends SettingsTable>(
  table: Table,
  file: { path: string; text: string },
  to: { problems: string[]; warnings: string[] },
): FoundByName<Table> {
  const found: FoundByName<Table> = new Map();
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
  const parameters = parametersOf(table);
  for (const { key, value, line } of last.values()) {
    const name = parameters.get(key.toLowerCase());
    if (name === undefined) {
      const known = [...parameters.values()].map((one) => rowOf(table, one).fileKey ?? one);
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
