// Reads where the datastore is: from calicoctl.cfg if it exists, and then from nowhere else; otherwise from the environment.
// The texts are the original's.
import { isRecord, type JsonRecord, type Log, messageOf } from "../../../base/lib/index.ts";
import { readDocument } from "../../../base/yaml/index.ts";
import { defaultConfigFile } from "../command-line/flags.ts";
import { CtlError } from "../console.ts";
import { goWords } from "../file-error.ts";
import { type ClientConfig, ConfigProblem, type Setting, settings } from "./settings.ts";

export type ReadConfigOptions = {
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** Undefined: there is no such file. */
  readonly readText: (file: string) => Promise<string | undefined>;
};

export async function readConfig({ file, env, log, readText }: ReadConfigOptions): Promise<ClientConfig> {
  const text = await readText(file).catch((error: unknown) => {
    const isFolder = isRecord(error) && error.code === "EISDIR";
    throw new ConfigProblem(`${isFolder ? "read" : "open"} ${file}: ${goWords(error)}`, { cause: error });
  });
  if (text !== undefined) {
    const ignored = variablesIn(env);
    log.info("the configuration file is used, and the environment is not", {
      file,
      ...(ignored.length === 0 ? {} : { ignored: ignored.join(",") }),
    });
    return await fromFile(file, text);
  }
  if (file !== defaultConfigFile) throw new CtlError(`Error reading config file: ${file}`, { stream: "stdout" });
  log.info("there is no configuration file; the environment is used", { file });
  return fromEnvironment(env);
}

async function fromFile(file: string, text: string): Promise<ClientConfig> {
  const wrong = (why: string) => new ConfigProblem(`syntax error in ${file}: ${why}`);
  const parsed = await parse(text).catch((error: unknown) => {
    throw wrong(`failed to parse config as YAML/JSON: ${firstLine(messageOf(error))}`);
  });
  const given = isRecord(parsed) ? parsed : {};
  const spec = isRecord(given.spec) ? given.spec : {};
  const unknown = unknownField(given, spec);
  if (unknown !== undefined) {
    const says = `error unmarshaling JSON: while decoding JSON: json: unknown field ${JSON.stringify(unknown)}`;
    throw wrong(`failed to parse config as YAML/JSON: ${says}`);
  }
  const { apiVersion = "", kind = "" } = given;
  if (apiVersion !== "projectcalico.org/v3") throw wrong(`invalid config file: unknown APIVersion '${apiVersion}'`);
  if (kind !== "CalicoAPIConfig")
    throw wrong(`invalid config file: expected kind 'CalicoAPIConfig', got '${String(kind)}'`);
  const config: { [name: string]: string } = {};
  for (const setting of settings) {
    const value = textOf(spec[setting.field]);
    if (value === undefined)
      throw wrong(
        `failed to parse config as YAML/JSON: spec.${setting.field} must be a ${"is" in setting ? setting.is : "string"}`,
      );
    const problem = problemOf(setting, value);
    if (problem !== undefined) throw wrong(`failed to parse config as YAML/JSON: spec.${setting.field} ${problem}`);
    if (value !== "") config[setting.field] = value;
  }
  return config;
}

function unknownField(given: JsonRecord, spec: JsonRecord): string | undefined {
  const above = Object.keys(given).find((name) => !["apiVersion", "kind", "metadata", "spec"].includes(name));
  return above ?? Object.keys(spec).find((name) => !settings.some(({ field }) => field === name));
}

/** "" for what is not there; undefined for what is no text, number or truth value. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return "";
  return ["string", "number", "bigint", "boolean"].includes(typeof value) ? String(value) : undefined;
}

async function parse(text: string): Promise<unknown> {
  try {
    return await readDocument(text);
  } catch (error) {
    throw new Error(`error converting YAML to JSON: yaml: ${messageOf(error)}`, { cause: error });
  }
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0]?.replace(/:$/, "") ?? "";
}

function fromEnvironment(env: ReadConfigOptions["env"]): ClientConfig {
  const config: { [name: string]: string } = {};
  for (const setting of settings) {
    if (!("variable" in setting)) continue;
    const value = env[`CALICO_${setting.variable}`] ?? env[setting.variable] ?? "";
    const problem = problemOf(setting, value);
    if (problem !== undefined)
      throw new ConfigProblem(`failed to load config from env vars: ${setting.variable} ${problem}`);
    if (value !== "") config[setting.field] = value;
  }
  return config;
}

function problemOf({ is }: Setting, value: string): string | undefined {
  if (value === "" || is === undefined) return undefined;
  if (is === "bool")
    return /^(?:1|t|T|TRUE|true|True|0|f|F|FALSE|false|False)$/.test(value)
      ? undefined
      : `is ${JSON.stringify(value)}, and must be true or false`;
  return Number.isFinite(Number(value)) ? undefined : `is ${JSON.stringify(value)}, and must be a number`;
}

function variablesIn(env: ReadConfigOptions["env"]): string[] {
  return settings.flatMap((setting) => {
    if (!("variable" in setting)) return [];
    return [setting.variable, `CALICO_${setting.variable}`].filter((name) => (env[name] ?? "") !== "");
  });
}
