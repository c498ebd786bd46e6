// What a server like Kubernetes' does in one call, done with reads and compare-and-swap where the server has no such call:
// a status written by itself, a patch, a delete that names a uid.
import { isRecord } from "../../base/lib/index.ts";
import type { Kind } from "../kinds/index.ts";
import type {
  CallOptions,
  DeleteOptions,
  ObjectId,
  Patch,
  PatchOptions,
  Reader,
  StoredObject,
  Writer,
} from "./datastore.ts";
import { type Editable, edit } from "./edit.ts";
import { DatastoreError } from "./errors.ts";
import { applyPatch } from "./merge-patch.ts";
import { metadataOf, otherUid } from "./object-id.ts";

type Updatable = Pick<Reader, "get"> & Pick<Writer, "update">;

export async function updateStatusByUpdate(
  datastore: Updatable,
  kind: Kind,
  object: StoredObject,
  options: CallOptions = {},
): Promise<StoredObject> {
  const stored = mustBe(await datastore.get(kind, object.id, options), kind, object.id);
  if (stored.revision !== object.revision) throw changed(kind, object, stored);
  return await datastore.update(kind, { ...stored, value: withStatusOf(object.value, stored.value) }, options);
}

export async function patchByUpdate(
  datastore: Editable,
  kind: Kind,
  id: ObjectId,
  { patch, revision, signal, through }: PatchOptions & { patch: Patch },
): Promise<StoredObject> {
  if (revision !== undefined) {
    const stored = mustBe(await datastore.get(kind, id, { signal }), kind, id);
    if (stored.revision !== revision) throw changed(kind, { id, revision }, stored);
    return await datastore.update(kind, { ...stored, value: applyPatch(stored.value, patch) }, { signal, through });
  }
  const decide = (current: StoredObject | undefined) => ({
    value: applyPatch(mustBe(current, kind, id).value, patch),
  });
  const { object } = await edit(datastore, kind, id, decide, { signal, through });
  return mustBe(object, kind, id);
}

export async function deleteWithUid(
  datastore: Editable,
  kind: Kind,
  id: ObjectId,
  { uid, signal }: DeleteOptions & { uid: string },
): Promise<void> {
  const decide = (current: StoredObject | undefined, { mayBeDone }: { mayBeDone: boolean }) => {
    if (current === undefined && mayBeDone) return "nothing";
    const { value } = mustBe(current, kind, id);
    if (metadataOf(value).uid !== uid) throw otherUid(kind, id, uid, value);
    return "delete";
  };
  await edit(datastore, kind, id, decide, { signal });
}

/** The stored value with the other one's status. */
export function withStatusOf(given: unknown, stored: unknown): unknown {
  const { status: _, ...rest } = isRecord(stored) ? stored : {};
  const { status } = isRecord(given) ? given : {};
  return status === undefined ? rest : { ...rest, status };
}

function mustBe(object: StoredObject | undefined, kind: Kind, { name }: ObjectId): StoredObject {
  if (object === undefined) throw new DatastoreError("not-found", `${kind} ${name} does not exist`);
  return object;
}

function changed(
  kind: Kind,
  { id, revision }: Pick<StoredObject, "id" | "revision">,
  now: StoredObject,
): DatastoreError {
  return new DatastoreError("conflict", `${kind} ${id.name} is at revision ${now.revision}, not ${revision}`);
}
