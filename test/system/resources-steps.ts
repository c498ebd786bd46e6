// The steps of recorded calicoctl runs, done with Resources instead: create, apply, replace, delete, get, patch and label of
// v3 objects. What a command line adds (tables, counts, the order of messages) is not looked at here; errors and objects are.
import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import { isRecord, type JsonRecord, silentLog, systemClock } from "../../src/base/lib/index.ts";
import type { Datastore } from "../../src/calico/datastore/index.ts";
import { kindByName } from "../../src/calico/kinds/index.ts";
import { FieldError } from "../../src/calico/model/index.ts";
import {
  type ApiKind,
  forCreate,
  initialiseDatastore,
  isApiKind,
  isNamespaced,
  isResourceError,
  ResourceError,
  type Resources,
  readV3,
  refusedByCtl,
  type V3Object,
} from "../../src/calico/resources/index.ts";

export type Step = {
  readonly argv: readonly string[];
  readonly stdin?: string;
  /** NAMESPACE/ACCOUNT */
  readonly as?: string;
  readonly instead?: { readonly has: readonly string[] };
};
export type Outcome = { readonly errors: readonly string[]; readonly objects: readonly V3Object[] };

type Command = {
  readonly verb: string;
  readonly words: readonly string[];
  readonly file: string | undefined;
  readonly namespace: string;
  readonly isEverywhere: boolean;
  readonly flags: ReadonlyMap<string, string>;
};

function parse([verb = "", ...rest]: readonly string[]): Command {
  const words: string[] = [];
  const flags = new Map<string, string>();
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? "";
    if (["-f", "-n", "-o", "-p", "--patch", "--type", "-t"].includes(word)) flags.set(word, rest[++at] ?? "");
    else if (word.startsWith("-")) flags.set(word, "");
    else words.push(word);
  }
  const isEverywhere = flags.has("-A") || flags.has("-a");
  return { verb, words, file: flags.get("-f"), namespace: flags.get("-n") ?? "default", isEverywhere, flags };
}

export async function runStep(step: Step, { resources, datastore, folder, fill }: Stage): Promise<Outcome> {
  const given = parse(step.argv);
  const command = given.file === "-" ? { ...given, file: step.stdin } : given;
  const errors: string[] = [];
  const objects: V3Object[] = [];
  const noted = async (act: () => Promise<V3Object | readonly V3Object[] | undefined>) => {
    try {
      const made = await act();
      if (made !== undefined) objects.push(...(Array.isArray(made) ? made : [made]));
    } catch (error) {
      // What cannot be read is for the command line to say; the original passes on Go's words.
      if (error instanceof FieldError) return void errors.push("");
      if (!isResourceError(error)) throw error;
      const skips = { exists: ["--skip-exists"], "not-found": ["--skip-not-exists", "-s"] };
      const flags = error.code === "exists" || error.code === "not-found" ? skips[error.code] : [];
      const isSkipped = flags.some((flag) => command.flags.has(flag));
      if (!isSkipped) errors.push(error.message);
    }
  };
  if (["create", "apply", "replace"].includes(command.verb)) await firstWrite(datastore);
  for (const { kind, object } of await inputOf(command, folder, fill)) {
    await noted(() => act(resources, command, kind, object));
  }
  return { errors, objects };
}

export type Stage = {
  readonly resources: Resources;
  readonly datastore: Datastore;
  readonly folder: string;
  /** Puts what is stored now into an input. */
  readonly fill: (text: string) => Promise<string>;
};

/** Silent, as far as rights allow. */
async function firstWrite(datastore: Datastore): Promise<void> {
  const signal = AbortSignal.timeout(60_000);
  const newClusterGuid = () => crypto.randomUUID().replaceAll("-", "");
  await initialiseDatastore(datastore, { clock: systemClock, log: silentLog, signal, newClusterGuid }).catch(() => {});
}

async function inputOf(
  command: Command,
  folder: string,
  fill: Stage["fill"],
): Promise<{ kind: ApiKind; object: JsonRecord }[]> {
  const { file, words, namespace, isEverywhere, verb } = command;
  const within = (kind: ApiKind) => (isNamespaced(kind) && !isEverywhere ? { namespace } : {});
  if (file !== undefined) {
    const text = await fill(readFileSync(`${folder}/in/${file}`, "utf8"));
    return parseAllDocuments(text, { version: "1.1" }).map((document) => {
      const object: unknown = document.toJS();
      if (!isRecord(object) || typeof object.kind !== "string" || !isApiKind(object.kind)) throw new Error("no kind");
      const metadata = { ...within(object.kind), ...(isRecord(object.metadata) ? object.metadata : {}) };
      return { kind: object.kind, object: { ...object, metadata } };
    });
  }
  const [name = "", ...names] = words;
  const kind = kindByName(name);
  if (kind === undefined || !isApiKind(kind)) throw new Error(`no kind ${name}`);
  const asked = verb === "label" || verb === "patch" ? names.slice(0, 1) : names;
  const made = (each?: string) => ({ kind, object: { metadata: { name: each, ...within(kind) } } });
  return asked.length === 0 ? [made()] : asked.map(made);
}

async function act(
  resources: Resources,
  { verb, words, flags }: Command,
  kind: ApiKind,
  object: JsonRecord,
): Promise<V3Object | readonly V3Object[] | undefined> {
  const metadata = isRecord(object.metadata) ? object.metadata : {};
  const id = { namespace: String(metadata.namespace ?? ""), name: String(metadata.name ?? "") };
  if (verb === "create" || verb === "apply" || verb === "replace" || verb === "delete") {
    const refusal = refusedByCtl(verb, kind, id);
    if (refusal !== undefined) throw refusal;
  }
  switch (verb) {
    case "create": {
      const read = readV3(kind, object);
      const { resourceVersion } = read.metadata;
      const only = forCreate(read);
      return await resources.create(kind, { ...only, metadata: { ...only.metadata, resourceVersion } });
    }
    case "apply":
      return await resources.apply(kind, object);
    case "replace":
      return await resources.replace(kind, object);
    case "delete": {
      const { resourceVersion } = metadata;
      await resources.delete(kind, id, typeof resourceVersion === "string" ? { resourceVersion } : {});
      return undefined;
    }
    case "get": {
      if (id.name !== "") return await resources.get(kind, id);
      const within = id.namespace === "" ? {} : { within: { namespace: id.namespace } };
      return (await resources.list(kind, within)).items;
    }
    case "patch": {
      const refusal = refusedByCtl("replace", kind, id);
      if (refusal !== undefined) throw refusal;
      const current = await resources.get(kind, id);
      return await resources.update(kind, merged(current, patchOf(flags.get("-p") ?? flags.get("--patch") ?? "")));
    }
    case "label":
      return await label(resources, kind, { id, word: words[2] ?? "", flags });
    default:
      throw new Error(`no verb ${verb}`);
  }
}

async function label(
  resources: Resources,
  kind: ApiKind,
  { id, word, flags }: { id: { namespace: string; name: string }; word: string; flags: ReadonlyMap<string, string> },
): Promise<V3Object | undefined> {
  const refusal = refusedByCtl("replace", kind, id);
  if (refusal !== undefined) throw refusal;
  const [key = "", value = ""] = word.split("=");
  return await resources.edit(kind, id, (current) => {
    if (current === undefined) return "nothing";
    const { [key]: _, ...others } = current.metadata.labels ?? {};
    const isThere = current.metadata.labels?.[key] !== undefined;
    if (!flags.has("--remove") && (!word.includes("=") || (isThere && !flags.has("--overwrite")))) return "nothing";
    const labels = flags.has("--remove") ? others : { ...others, [key]: value };
    return { ...current, metadata: { ...current.metadata, labels } };
  });
}

function patchOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ResourceError("invalid", "performing strategic merge patch: invalid JSON document");
  }
}

/** In Calico's types no list has a merge key: a strategic merge is a plain one. */
function merged(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}
