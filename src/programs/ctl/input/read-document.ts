// One YAML or JSON document as v3 objects: an object, an array of objects, or a KIND+List with items. Strict: unknown kinds,
// unknown fields and values of the wrong type are errors in the original's words, with the line and the field.
import { isRecord, type JsonRecord, nearest } from "../../../base/lib/index.ts";
import { type Kind, kindByName, kindInfo, namedKinds } from "../../../calico/kinds/index.ts";
import { FieldError, objectMeta } from "../../../calico/model/index.ts";
import { type ApiKind, isApiKind, readV3, type V3Object, v3Version } from "../../../calico/resources/index.ts";
import { type FitOptions, fitSchema, type OpenApi, UnknownField } from "./fit-schema.ts";

/** What is wrong with a document. */
export class DocumentError extends Error {
  /** The path of the field that it is about, from the start of the document; "" for the document. */
  readonly field: string;
  /** The original says the same, to the letter: programs may look for it. */
  readonly isOriginal: boolean;
  /** What was probably meant. */
  readonly meant: string | undefined;

  constructor(message: string, options: { field?: string; isOriginal?: boolean; meant?: string | undefined }) {
    super(message);
    this.name = "DocumentError";
    this.field = options.field ?? "";
    this.isOriginal = options.isOriginal ?? false;
    this.meant = options.meant;
  }
}

export type ReadObject = {
  readonly kind: ApiKind;
  readonly object: V3Object;
  /** Where it stands in the document: "" if it is the document, [1] or items[1] in a list. */
  readonly path: string;
};

/** Of what YAML or JSON says. Throws DocumentError. */
export function readDocument(value: unknown): readonly ReadObject[] {
  if (value === null) throw unknownType("", "", ""); // nothing but comments
  // In a plain list the original does not know yet what a field is when it reads its scalar.
  if (Array.isArray(value)) return value.flatMap((one, index) => readOne(one, `[${index}]`, { keepsScalars: true }));
  return readOne(value, "", { keepsScalars: false });
}

function readOne(value: unknown, path: string, how: FitOptions): readonly ReadObject[] {
  if (!isRecord(value)) {
    const found = Array.isArray(value) ? "a list" : value === null ? "nothing" : `a ${typeof value}`;
    throw new DocumentError(`expected an object or a list of objects, found ${found}`, { field: path });
  }
  const { kind, version } = typeOf(value, path);
  const known = kindNamed(kind);
  if (version !== v3Version) throw unknownType(kind, version, path);
  if (known !== undefined) return [readObject(known, value, path, how)];
  const element = kind.endsWith("List") ? kindNamed(kind.slice(0, -"List".length)) : undefined;
  if (element === undefined) throw unknownType(kind, version, path);
  return readList(element, value, path, how);
}

function typeOf(value: JsonRecord, path: string): { kind: string; version: string } {
  const { kind, apiVersion } = value;
  if (typeof kind === "string" && kind !== "") {
    return { kind, version: typeof apiVersion === "string" ? apiVersion : "" };
  }
  const what = kind === undefined || kind === "" ? "the object has no kind" : "kind must be text";
  throw new DocumentError(`${what}, such as "kind: IPPool"`, { field: join(path, "kind") });
}

function kindNamed(name: string): ApiKind | undefined {
  const kind = namedKinds.find((known) => known === name);
  return kind !== undefined && isApiKind(kind) ? kind : undefined;
}

function unknownType(kind: string, version: string, path: string): DocumentError {
  const meant = kind === "" ? undefined : (kindByName(kind) ?? nearest(kind, namedKinds));
  const isVersion = meant === kind;
  return new DocumentError(`unknown resource type (${kind}) and/or version (${version})`, {
    field: kind === "" ? path : join(path, isVersion ? "apiVersion" : "kind"),
    isOriginal: true,
    meant: isVersion ? v3Version : meant,
  });
}

function readList(kind: ApiKind, list: JsonRecord, path: string, how: FitOptions): readonly ReadObject[] {
  fit(listSchema, list, path, how);
  const { items } = list;
  if (items === undefined || items === null) return [];
  if (!Array.isArray(items)) {
    throw new DocumentError(`${join(path, "items")}: expected a list`, { field: join(path, "items") });
  }
  return items.map((item, index) => {
    const at = `${join(path, "items")}[${index}]`;
    if (!isRecord(item)) throw new DocumentError(`${at}: expected an object`, { field: at });
    const own = typeOf(item, at);
    if (own.version !== v3Version) throw unknownType(own.kind, own.version, at);
    if (own.kind !== kind) {
      const problem = `${at}: kind is ${own.kind}, but all items of a ${kind}List must be of kind ${kind}`;
      throw new DocumentError(problem, { field: join(at, "kind") });
    }
    return readObject(kind, item, at, how);
  });
}

function readObject(kind: ApiKind, value: JsonRecord, path: string, how: FitOptions): ReadObject {
  const fitted = fit(schemaOf(kind), value, path, how);
  try {
    return { kind, object: readV3(kind, fitted), path };
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    const field = join(path, error.field);
    throw new DocumentError(`${field}: ${error.rule.replace(/^Invalid input: /, "")}`, { field });
  }
}

function fit(schema: OpenApi, value: JsonRecord, path: string, how: FitOptions): unknown {
  try {
    return fitSchema(schema, value, [], how);
  } catch (error) {
    if (!(error instanceof UnknownField)) throw error;
    const name = String(error.path.at(-1));
    throw new DocumentError(`field in document is not recognized or is in the wrong location: ${name}`, {
      field: join(path, pathText(error.path)),
      isOriginal: true,
      meant: nearest(name, error.known),
    });
  }
}

const typeMeta: OpenApi = { kind: { type: "string" }, apiVersion: { type: "string" } };
const text = { type: "string" };
const listSchema: OpenApi = {
  properties: {
    ...typeMeta,
    metadata: { properties: { selfLink: text, resourceVersion: text, continue: text, remainingItemCount: {} } },
    items: {},
  },
};

function schemaOf(kind: Kind): OpenApi {
  const { schema } = kindInfo(kind);
  const status = schema?.status === undefined ? {} : { status: schema.status.crd };
  return { properties: { ...typeMeta, metadata: objectMeta.crd, spec: schema?.spec.crd ?? {}, ...status } };
}

function join(path: string, field: string): string {
  if (path === "" || field === "") return path + field;
  return field.startsWith("[") ? path + field : `${path}.${field}`;
}

function pathText(path: readonly (string | number)[]): string {
  return path.reduce<string>((text, part) => join(text, typeof part === "number" ? `[${part}]` : part), "");
}
