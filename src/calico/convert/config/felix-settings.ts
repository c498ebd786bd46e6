// FelixConfiguration and ClusterInformation to settings: one key/value per field. The object's name says for whom: "default"
// for all nodes, "node.NAME" for one; any other is passed on whole, for Felix to choose by its node selector.
// State: the names of settings that only annotations gave, so that their removal can be said.
import {
  clusterInformationSpec,
  felixConfigurationSpec,
  felixFields,
  type Setting,
  settingName,
  specProblems,
} from "../../kinds/index.ts";
import { compareUtf8, FieldError, type Key, keyToPath, type Schema } from "../../model/index.ts";
import { type Resource, readResource } from "../object/resource.ts";
import { keyless, toOutput, unreadable } from "../processor/keyed-processor.ts";
import {
  attempt,
  type ConversionProblem,
  type ConvertedKv,
  deletion,
  objectName,
  type Processor,
  type ProcessorId,
  type ProcessorOutput,
} from "../processor/processor.ts";
import { convertWhole, type PassThroughKind } from "../processor/whole-object.ts";

type ConfigField = {
  readonly name: string;
  /** Undefined: there is no such setting in this scope. */
  key(host: string | undefined): Key | undefined;
  /** Undefined: not set. Throws FieldError, its field below the setting's own. */
  format(spec: { readonly [field: string]: unknown }): string | undefined;
  readonly field: string;
};

type ConfigKind<S> = PassThroughKind<S> & {
  readonly kind: "FelixConfiguration" | "ClusterInformation";
  readonly fields: readonly ConfigField[];
  readonly annotationPrefix: string | undefined;
};

const settingKey =
  (name: string) =>
  (host: string | undefined): Key =>
    host === undefined ? { is: "GlobalConfig", name } : { is: "HostConfig", hostname: host, name };

export function createFelixConfigurationProcessor(): Processor {
  // A loop over the table loses which field has which type; each setting's format takes its own field's value.
  const settings = Object.entries(felixFields() as { readonly [field: string]: Setting<unknown> });
  return createConfigProcessor({
    kind: "FelixConfiguration",
    schema: felixConfigurationSpec,
    annotationPrefix: "config.projectcalico.org/",
    problem: ({ spec }) => specProblems("FelixConfiguration", spec)[0],
    fields: settings.map(([field, { as, format }]) => {
      const name = settingName(field, as);
      return {
        name,
        field: `spec.${field}`,
        key: settingKey(name),
        format: (spec) => (spec[field] === undefined ? undefined : format(spec[field])),
      };
    }),
  });
}

const clusterTexts = [
  ["clusterGUID", "ClusterGUID"],
  ["clusterType", "ClusterType"],
  ["calicoVersion", "CalicoVersion"],
] as const;

export function createClusterInformationProcessor(): Processor {
  const text = (field: string, name: string): ConfigField => ({
    name,
    field: `spec.${field}`,
    key: settingKey(name),
    format: (spec) => (spec[field] === undefined || spec[field] === "" ? undefined : String(spec[field])),
  });
  const ready: ConfigField = {
    name: "DatastoreReady",
    field: "spec.datastoreReady",
    // One node has no flag of its own. (Deleting a ClusterInformation of one node crashes the original here.)
    key: (host) => (host === undefined ? { is: "Ready" } : undefined),
    format: ({ datastoreReady }) => (datastoreReady === undefined ? undefined : String(datastoreReady)),
  };
  return createConfigProcessor({
    kind: "ClusterInformation",
    schema: clusterInformationSpec,
    annotationPrefix: undefined,
    problem: () => undefined,
    fields: [...clusterTexts.map(([field, name]) => text(field, name)), ready, text("variant", "Variant")],
  });
}

type Scope = { readonly is: "settings"; readonly host: string | undefined } | { readonly is: "whole" };

function scopeOf(name: string): Scope {
  if (name === "default") return { is: "settings", host: undefined };
  return name.startsWith("node.") && name.length > 5 ? { is: "settings", host: name.slice(5) } : { is: "whole" };
}

function createConfigProcessor<S>(config: ConfigKind<S>): Processor {
  const extras = new Set<string>();

  const pathsOf = (host: string | undefined): string[] => {
    const fieldPaths = config.fields
      .map(({ key }) => key(host))
      .map((key) => (key === undefined ? undefined : keyToPath(key)));
    const extraPaths = [...extras].map((name) => keyToPath(settingKey(name)(host)));
    return [...fieldPaths, ...extraPaths].filter((path) => path !== undefined);
  };

  return {
    set: (id, revision, value) => {
      const object = objectName(config.kind, id);
      const scope = scopeOf(id.name);
      const read = attempt(() => readResource(config.kind, config.schema as Schema<S>, value));
      if (scope.is === "whole") return setWhole(config, id, { revision, read });
      if (read instanceof FieldError) return unreadable(object, pathsOf(scope.host).map(deletion), read);
      const overrides = readOverrides(read.metadata.annotations ?? {}, config.annotationPrefix);
      const context = { object, revision, host: scope.host, overrides };
      const ofFields = fieldKvs(config.fields, read as Resource<object>, context);
      return { ...ofFields, kvs: [...ofFields.kvs, ...extraKvs(extras, context)] };
    },
    delete: (id) => {
      const scope = scopeOf(id.name);
      if (scope.is === "settings") return { kvs: pathsOf(scope.host).map(deletion), problems: [] };
      const path = keyToPath({ is: "Resource", kind: config.kind, namespace: "", name: id.name });
      return { kvs: path === undefined ? [] : [deletion(path)], problems: [] };
    },
  };
}

function setWhole<S>(
  config: ConfigKind<S>,
  id: ProcessorId,
  { revision, read }: { revision: string; read: Resource<S> | FieldError },
): ProcessorOutput {
  const object = objectName(config.kind, id);
  const path = keyToPath({ is: "Resource", kind: config.kind, namespace: "", name: id.name });
  if (path === undefined) return keyless(object);
  if (read instanceof FieldError) return unreadable(object, [deletion(path)], read);
  return toOutput(convertWhole(config, read), { object, path, revision });
}

function readOverrides(
  annotations: { readonly [name: string]: string },
  prefix: string | undefined,
): Map<string, string> {
  const overrides = new Map<string, string>();
  if (prefix === undefined) return overrides;
  for (const [name, value] of Object.entries(annotations)) {
    if (name.startsWith(prefix)) overrides.set(name.slice(prefix.length), value);
  }
  return overrides;
}

type Context = {
  readonly object: string;
  readonly revision: string;
  readonly host: string | undefined;
  /** By setting; those that are taken go. */
  readonly overrides: Map<string, string>;
};

function fieldKvs(
  fields: readonly ConfigField[],
  resource: Resource<object>,
  { object, revision, host, overrides }: Context,
): { kvs: ConvertedKv[]; problems: ConversionProblem[] } {
  const kvs: ConvertedKv[] = [];
  const problems: ConversionProblem[] = [];
  const spec = resource.spec as { readonly [field: string]: unknown }; // struct schemas make plain objects
  for (const { name, field, key, format } of fields) {
    const found = key(host);
    const path = found === undefined ? undefined : keyToPath(found);
    if (path === undefined) continue;
    const overridden = overrides.get(name);
    overrides.delete(name);
    const value = overridden ?? attempt(() => format(spec));
    if (value instanceof FieldError) {
      problems.push({ object, field: field + value.field, rule: value.rule, effect: "dropped" });
      kvs.push(deletion(path));
    } else kvs.push(value === undefined ? deletion(path) : { path, value, revision, v3ResourceVersion: "" });
  }
  return { kvs, problems };
}

/** Settings that no field has: those annotated now, and deletions for those annotated earlier. */
function extraKvs(extras: Set<string>, { revision, host, overrides }: Context): ConvertedKv[] {
  const added = [...overrides.keys()].filter((name) => !extras.has(name)).sort(compareUtf8);
  for (const name of added) extras.add(name);
  return [...extras].flatMap((name) => {
    const path = keyToPath(settingKey(name)(host));
    const value = overrides.get(name);
    if (path === undefined) return [];
    return value === undefined ? [deletion(path)] : [{ path, value, revision, v3ResourceVersion: "" }];
  });
}
