// Objects as a Go template sees them. Templates name the fields of Go's types (.ObjectMeta.Name, .Spec.CIDR), which are the
// names in JSON but for their letter case; a field that is not set has the zero value of its type, and only the schema knows
// which that is.
import { isRecord } from "../../../../base/lib/index.ts";
import { kindInfo } from "../../../../calico/kinds/index.ts";
import { type GoType, objectMeta } from "../../../../calico/model/index.ts";
import { type V3Object, v3Version } from "../../../../calico/resources/index.ts";
import type { Result } from "../result.ts";

/** null is Go's nil. */
export type Value = string | number | bigint | boolean | null | readonly Value[] | GoFloat | GoMap | GoStruct;

/** Printed otherwise than a whole number of the same value. */
export class GoFloat {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }

  valueOf(): number {
    return this.value;
  }
}

export class GoMap {
  /** By key, as Go walks through maps here. */
  readonly entries: ReadonlyMap<string, Value>;
  constructor(entries: readonly (readonly [string, Value])[]) {
    this.entries = new Map([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** What a map has under a name that it does not have: nothing, printed as such. */
export const noValue = new GoMap([]);

export class GoStruct {
  readonly typeName: string;
  /** Undefined: the type has no such field. */
  readonly field: (name: string) => Value | undefined;
  constructor(typeName: string, field: (name: string) => Value | undefined) {
    this.typeName = typeName;
    this.field = field;
  }
}

/** The data of a template: what was found, in the order in which it was asked for. */
export function templateData(results: readonly Result[]): readonly Value[] {
  return results.map((result) => (result.is === "list" ? listStruct(result) : objectStruct(result.object)));
}

function listStruct({ kind, items, resourceVersion }: Extract<Result, { is: "list" }>): GoStruct {
  const metadata = fieldsStruct("v1.ListMeta", {
    resourceVersion,
    selfLink: "",
    continue: "",
    remainingItemCount: null,
  });
  const type = typeMeta(`${kind}List`);
  const own = fieldsStruct("", { metadata, listmeta: metadata, typemeta: type, items: items.map(objectStruct) });
  return new GoStruct(`v3.${kind}List`, (name) => own.field(name) ?? type.field(name) ?? metadata.field(name));
}

function objectStruct(object: V3Object): GoStruct {
  const { kind } = object;
  const { schema } = kindInfo(kind);
  const part = (name: "spec" | "status") => {
    const known = schema?.[name];
    if (known === undefined) return undefined;
    const at: At = {
      schema: known.crd,
      root: known.go,
      path: [],
      typeName: `v3.${kind}${name === "spec" ? "Spec" : "Status"}`,
    };
    return view(object[name] ?? {}, at);
  };
  const metadata = view(object.metadata, {
    schema: objectMeta.crd,
    root: objectMeta.go,
    path: [],
    typeName: "v1.ObjectMeta",
  });
  const type = typeMeta(kind);
  return new GoStruct(`v3.${kind}`, (name) => {
    switch (name.toLowerCase()) {
      case "spec":
      case "status":
        return part(name.toLowerCase() === "spec" ? "spec" : "status");
      case "objectmeta":
      case "metadata":
        return metadata;
      case "typemeta":
        return type;
      default:
        // Embedded: their fields are the object's.
        return type.field(name) ?? (metadata instanceof GoStruct ? metadata.field(name) : undefined);
    }
  });
}

function typeMeta(kind: string): GoStruct {
  return fieldsStruct("v1.TypeMeta", { kind, apiVersion: v3Version });
}

function fieldsStruct(typeName: string, fields: { readonly [name: string]: Value }): GoStruct {
  return new GoStruct(typeName, (name) => {
    const known = sameName(Object.keys(fields), name);
    return known === undefined ? undefined : fields[known];
  });
}

function sameName(known: readonly string[], name: string): string | undefined {
  if (known.includes(name)) return name;
  const folded = name.toLowerCase();
  return known.find((one) => one.toLowerCase() === folded);
}

type OpenApi = { readonly [keyword: string]: unknown };

/** What is known of the type of a value. */
type At = {
  readonly schema: OpenApi | undefined;
  /** The writer of the whole part, and the way from there: it knows what is a pointer. */
  readonly root: GoType<never>;
  readonly path: readonly (string | typeof inList | typeof inMap)[];
  readonly typeName: string;
};

const inList = Symbol("an element");
const inMap = Symbol("a member of a map");

function view(value: unknown, at: At): Value {
  const { schema = {} } = at;
  if (value === undefined || value === null) return zeroValue(at);
  if (Array.isArray(value)) {
    const element: At = { ...at, schema: inner(schema.items), path: [...at.path, inList] };
    return value.map((one) => view(one, element));
  }
  if (isRecord(value)) return isRecord(schema.properties) ? struct(value, at) : map(value, at);
  if (typeof value === "string") return schema.format === "date-time" ? timeText(value) : value;
  if (schema.type === "number") return new GoFloat(Number(value));
  return typeof value === "number" || typeof value === "bigint" || typeof value === "boolean" ? value : null;
}

function struct(value: { readonly [name: string]: unknown }, at: At): GoStruct {
  const properties = inner(at.schema?.properties) ?? {};
  return new GoStruct(at.typeName, (name) => {
    const known = sameName(Object.keys(properties), name);
    if (known === undefined) return undefined;
    return view(value[known], {
      ...at,
      schema: inner(properties[known]),
      path: [...at.path, known],
      typeName: `${at.typeName}.${name}`,
    });
  });
}

function map(value: { readonly [name: string]: unknown }, at: At): GoMap {
  const element: At = { ...at, schema: inner(at.schema?.additionalProperties), path: [...at.path, inMap] };
  return new GoMap(Object.entries(value).map(([name, member]) => [name, view(member, element)] as const));
}

function zeroValue(at: At): Value {
  const { schema = {} } = at;
  switch (schema.type) {
    case "string":
      return isPointer(at, "") ? null : "";
    case "integer":
    case "number":
      return isPointer(at, 0) ? null : 0;
    case "boolean":
      return isPointer(at, false) ? null : false;
    case "array":
      return isPointer(at, []) ? null : [];
    case "object":
      if (!isRecord(schema.properties)) return new GoMap([]);
      return isPointer(at, {}) ? null : struct({}, at);
    default:
      return null;
  }
}

/** Go leaves a zero value out and writes what a pointer points to: whether it is written tells them apart. */
function isPointer({ root, path }: At, zero: unknown): boolean {
  const name = path.at(-1);
  if (typeof name !== "string") return false;
  const write = root.write as (value: unknown) => string; // of an object made for this question
  const hasField = (value: unknown) => write(within(path, value)).includes(`${JSON.stringify(name)}:`);
  return hasField(zero) && !hasField(undefined);
}

function within(path: At["path"], value: unknown): unknown {
  return path.reduceRight<unknown>((inside, part) => {
    if (part === inList) return [inside];
    return part === inMap ? { member: inside } : { [part as string]: inside };
  }, value);
}

/** As Go prints a time in UTC. */
function timeText(value: string): string {
  const [, date, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d(?:\.\d+)?)Z$/.exec(value) ?? [];
  return date === undefined ? value : `${date} ${time} +0000 UTC`;
}

function inner(schema: unknown): OpenApi | undefined {
  return isRecord(schema) ? schema : undefined;
}
