// From etcd's pairs, events and refused transactions to the datastore's objects, events and errors.
import { type Kind, kindInfo } from "../../kinds/index.ts";
import type { ObjectId, StoredObject, WatchEvent } from "../datastore.ts";
import { DatastoreError } from "../errors.ts";
import { identify } from "../object-id.ts";
import { narrowed, type Selection } from "../within.ts";
import { blockId, keyToId, prefixOf } from "./keys.ts";
import type { EtcdEvent, KeyValue, TxnResponse } from "./messages.ts";
import { toRevision } from "./revision.ts";
import { isApiObject, readObject } from "./values.ts";

/** Undefined: the key is not one of the kind's. */
export function pairToObject(kind: Kind, { key, value, modRevision }: KeyValue): StoredObject | undefined {
  const id = keyToId(kind, key.toString());
  return id === undefined ? undefined : readObject(id, toRevision(modRevision), value);
}

/**
 * Undefined: the key is not one of the kind's, or the change is none to who sees only the selection. A deletion's revision
 * is its own, not that of the value it ended: a watch that resumes there never goes back.
 */
export function toWatchEvent(kind: Kind, selection: Selection, event: EtcdEvent): WatchEvent | undefined {
  const { type, kv } = event;
  const id = keyToId(kind, kv.key.toString());
  if (id === undefined) return undefined;
  const revision = toRevision(kv.modRevision);
  const now = type === "DELETE" ? undefined : readObject(id, revision, kv.value);
  return narrowed(selection, { before: stateBefore(kind, event), now, id, revision });
}

// Without labels the id decides, which does not change; with them etcd is asked for what was before, and answers
// nothing where history no longer has it.
function stateBefore(kind: Kind, { type, kv, before }: EtcdEvent): StoredObject | undefined | "unknown" {
  if (before !== undefined) return pairToObject(kind, before);
  return type === "PUT" && kv.createRevision === kv.modRevision ? undefined : "unknown";
}

/** What a new object is called: API objects and blocks say it themselves. */
export function nameOf(kind: Kind, value: unknown): ObjectId {
  prefixOf(kind); // that there is no such kind is worth more than that it lacks a name
  if (isApiObject(kind)) return identify(kind, value);
  const id = kind === "IPAMBlock" ? blockId(value) : undefined;
  if (id !== undefined) return id;
  throw new DatastoreError("invalid", `${kind}: the value does not say its own name; give the id`);
}

/** Why a compare failed, by what was found instead. */
export function refusal(kind: Kind, id: ObjectId, { responses }: TxnResponse): DatastoreError {
  const found = responses[0]?.responseRange?.kvs[0];
  const name = kindInfo(kind).namespaced ? `${id.namespace}/${id.name}` : id.name;
  if (found === undefined) return new DatastoreError("not-found", `${kind} ${name} does not exist`);
  return new DatastoreError("conflict", `${kind} ${name} is at revision ${found.modRevision}`);
}
