// Whether an object may be written, and what is filled in before it is: loops over what the files of the kinds say. All
// that is wrong is told, in our words and in the original's (problemText).
import { isRecord } from "../../base/lib/index.ts";
import { cleanJson, FieldError, objectMeta, readSchema } from "../model/index.ts";
import type { Problem } from "./checks/check.ts";
import { metadataProblems } from "./checks/metadata.ts";
import type { SpecObject } from "./kind.ts";
import { type Kind, kindInfo } from "./registry.ts";

type Read =
  | {
      readonly is: "object";
      readonly object: SpecObject<object>;
      readonly rest: { readonly [member: string]: unknown };
    }
  | { readonly is: "unreadable"; readonly problem: Problem };

/** Metadata and spec as the schema reads them; the rest of the object, as it is. */
function readParts(kind: Kind, value: unknown): Read {
  const { schema } = kindInfo(kind);
  try {
    const clean = cleanJson(value);
    if (!isRecord(clean)) throw new FieldError("", "must be an object");
    const { metadata = {}, spec = {}, ...rest } = clean;
    const read = schema === undefined ? spec : readSchema(schema.spec, spec, "spec");
    const isReported = schema?.status !== undefined && rest.status !== undefined;
    const status = isReported ? readSchema(schema.status, rest.status, "status") : undefined;
    if (!isRecord(read)) throw new FieldError("spec", "must be an object");
    const object = { metadata: readSchema(objectMeta, metadata, "metadata"), spec: read };
    return { is: "object", object: isRecord(status) ? { ...object, status } : object, rest };
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    const { field, rule } = error;
    return { is: "unreadable", problem: { field, rule, name: field, reason: rule } };
  }
}

/** Every rule that the object breaks by itself: of its metadata, of its fields, and of it as a whole. */
export function validate(kind: Kind, value: unknown): readonly Problem[] {
  const read = readParts(kind, value);
  if (read.is === "unreadable") return [read.problem];
  const { object } = read;
  const { wholeChecks } = kindInfo(kind);
  return [...metadataProblems(object.metadata), ...specProblems(kind, object.spec), ...(wholeChecks?.(object) ?? [])];
}

/** The rules of the spec alone, of one that was read against the schema. */
export function specProblems(kind: Kind, spec: object): readonly Problem[] {
  const check = kindInfo(kind).checks?.();
  return check === undefined ? [] : [...check(spec, { path: "spec", name: "Spec" })];
}

/**
 * What stops a write before anything else is looked at. `previous` is what is stored, where the object is there already.
 * The kind's crossRules are for whoever has a datastore.
 */
export function problemsBeforeWrite(kind: Kind, value: unknown, previous?: unknown): readonly Problem[] {
  const read = readParts(kind, value);
  if (read.is === "unreadable") return [read.problem];
  const before = previous === undefined ? undefined : readParts(kind, previous);
  const { beforeWrite } = kindInfo(kind);
  return [...(beforeWrite?.(read.object, before?.is === "object" ? before.object : undefined) ?? [])];
}

/** The object with what the original fills in when it writes; one that cannot be read stays as it is. */
export function withDefaults(kind: Kind, value: unknown): unknown {
  const { fill } = kindInfo(kind);
  const read = fill === undefined ? undefined : readParts(kind, value);
  if (fill === undefined || read === undefined || read.is === "unreadable") return value;
  const { metadata, spec } = fill(read.object);
  return { ...read.rest, metadata, spec };
}
