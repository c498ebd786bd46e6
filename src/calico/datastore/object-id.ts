// What an object is called, read from the object itself: metadata.name, and metadata.namespace where its kind has one.
import { isRecord, type JsonRecord } from "../../base/lib/index.ts";
import { type Kind, kindInfo } from "../kinds/index.ts";
import type { ObjectId } from "./datastore.ts";
import { DatastoreError } from "./errors.ts";

/** The object's metadata, empty where it has none. */
export function metadataOf(value: unknown): JsonRecord {
  const metadata = isRecord(value) ? value.metadata : undefined;
  return isRecord(metadata) ? metadata : {};
}

/** Throws "invalid" for an object that does not say its name, or says what cannot be one. */
export function identify(kind: Kind, value: unknown, options: { defaultNamespace?: string } = {}): ObjectId {
  const { name, namespace = options.defaultNamespace } = metadataOf(value);
  if (!isName(name)) throw new DatastoreError("invalid", `${kind}: metadata.name ${shown(name)} is not a name`);
  if (!kindInfo(kind).namespaced) return { namespace: "", name };
  if (!isName(namespace)) {
    throw new DatastoreError("invalid", `${kind} ${name}: metadata.namespace ${shown(namespace)} is not a name`);
  }
  return { namespace, name };
}

/** One text per id, and back: no name and no namespace holds a NUL, so no two ids share one. */
export function idText(id: ObjectId): string {
  return `${id.namespace}\u0000${id.name}`;
}

export function idOfText(text: string): ObjectId {
  const border = text.indexOf("\u0000");
  return { namespace: text.slice(0, border), name: text.slice(border + 1) };
}

/** For a delete or an update that names a uid: another object has the name now. */
export function otherUid(kind: Kind, { name }: ObjectId, wanted: string, found: unknown): DatastoreError {
  return new DatastoreError("conflict", `${kind} ${name} has the uid ${metadataOf(found).uid}, not ${wanted}`);
}

function isName(text: unknown): text is string {
  return typeof text === "string" && text !== "" && !text.includes("/") && !text.includes("\u0000");
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : `(${typeof value})`;
}
