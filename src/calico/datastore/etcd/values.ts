// What is stored under a key: JSON, read with its large numbers intact, and written as calicoctl writes it.
import { isRecord, type JsonRecord, messageOf, parseJson } from "../../../base/lib/index.ts";
import { type Kind, kindInfo } from "../../kinds/index.ts";
import { writeGoJson } from "../../model/index.ts";
import type { ObjectId, Revision, StoredObject } from "../datastore.ts";
import { DatastoreError } from "../errors.ts";
import { metadataOf } from "../object-id.ts";

const maxDepth = 200;
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** An object that cannot be read is given with the problem instead of a value: its consumer reports it. */
export function readObject(id: ObjectId, revision: Revision, bytes: Uint8Array): StoredObject {
  try {
    const text = strictUtf8.decode(bytes);
    if (isTooDeep(text)) return { id, revision, value: undefined, problem: `is nested deeper than ${maxDepth} levels` };
    return { id, revision, value: parseJson(text) };
  } catch (error) {
    return { id, revision, value: undefined, problem: `is not JSON: ${messageOf(error).slice(0, 200)}` };
  }
}

/** The bytes to store. API objects lose what only an answer has (resourceVersion) and gain what calicoctl would add. */
export function writeObject(kind: Kind, value: unknown, id: ObjectId): Buffer {
  if (!isRecord(value)) throw new DatastoreError("invalid", `${kind} ${id.name}: the object is not a JSON object`);
  return Buffer.from(writeGoJson(isApiObject(kind) ? apiObject(kind, value, id) : value));
}

/** IPAM's own objects are stored in Calico's first format, which has no metadata. */
export function isApiObject(kind: Kind): boolean {
  const { etcdKey, etcdPrefix = etcdKey } = kindInfo(kind);
  return etcdPrefix?.startsWith("/calico/ipam/") !== true;
}

const metadataOrder = [
  "name",
  "generateName",
  "namespace",
  "uid",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
];
const policyKinds: readonly Kind[] = [
  "NetworkPolicy",
  "GlobalNetworkPolicy",
  "StagedNetworkPolicy",
  "StagedGlobalNetworkPolicy",
];

function apiObject(kind: Kind, value: JsonRecord, id: ObjectId): JsonRecord {
  const { kind: _kind, apiVersion: _version, metadata: _metadata, ...rest } = value;
  const { resourceVersion: _, ...given } = metadataOf(value);
  const full: Record<string, unknown> = {
    ...given,
    name: id.name,
    ...(id.namespace === "" ? {} : { namespace: id.namespace }),
    ...(policyKinds.includes(kind) ? policyMarks(value, id.name) : {}),
  };
  const metadata: Record<string, unknown> = {};
  for (const name of metadataOrder) if (full[name] !== undefined) metadata[name] = full[name];
  return { kind, apiVersion: "projectcalico.org/v3", metadata: { ...metadata, ...full }, ...rest };
}

// Policies carry their tier as a label, to be selected by, and their own name as an annotation, because releases that
// prefixed stored names with the tier must still find it.
function policyMarks(value: JsonRecord, name: string): JsonRecord {
  const { labels, annotations } = metadataOf(value);
  const tier = isRecord(value.spec) && typeof value.spec.tier === "string" ? value.spec.tier : "";
  return {
    labels: { ...(isRecord(labels) ? labels : {}), "projectcalico.org/tier": tier === "" ? "default" : tier },
    annotations: {
      ...(isRecord(annotations) ? annotations : {}),
      "projectcalico.org/metadata": JSON.stringify({ name }),
    },
  };
}

// Counted on the text, before a parser or anything behind it recurses.
function isTooDeep(text: string): boolean {
  if (!hasMany(text, maxDepth)) return false;
  let depth = 0;
  let isInText = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isInText) {
      if (code === 0x5c) i++;
      else if (code === 0x22) isInText = false;
    } else if (code === 0x22) isInText = true;
    else if (code === 0x7b || code === 0x5b) {
      depth++;
      if (depth > maxDepth) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}

/** Whether more than so many objects and lists begin in the text, or would if none of it were in quotation marks. */
function hasMany(text: string, most: number): boolean {
  let count = 0;
  for (const opening of ["{", "["]) {
    for (let at = text.indexOf(opening); at !== -1 && count <= most; at = text.indexOf(opening, at + 1)) count++;
  }
  return count > most;
}
