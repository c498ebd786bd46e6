// Before v3.32 a policy of the default tier was stored under "default." and its name. Such policies are listed by their name and
// found by the stored one only. Here each is stored again under its name, and the old one deleted. Doing it twice does no harm: what a run that was
// stopped has copied is recognised.
import { type Datastore, isDatastoreError, type StoredObject, writeJson } from "../datastore/index.ts";
import { FieldError } from "../model/index.ts";
import type { ApiKind } from "./api-kinds.ts";
import { fromCustomResource, tieredPolicies, toCustomResource } from "./forms/custom-resource.ts";
import { fromEtcdResource, toEtcdResource } from "./forms/etcd.ts";
import type { Call } from "./homes/home.ts";
import { gather, type StoredForm, storedFormOf } from "./homes/object-home.ts";
import { nameInMessages } from "./names.ts";
import { ResourceError, resourceErrorOf } from "./resource-error.ts";
import type { V3Object } from "./v3-object.ts";

export type MigratedNames = {
  readonly migrated: number;
  /** Neither read nor renamed. */
  readonly unreadable: readonly { readonly object: string; readonly problem: string }[];
};

/** Stops at the first error; what was renamed before stays so. */
export async function migratePolicyNames(datastore: Datastore, call: Call = {}): Promise<MigratedNames> {
  const { signal = new AbortController().signal } = call;
  const form = await storedFormOf(datastore, call);
  const unreadable: { object: string; problem: string }[] = [];
  let migrated = 0;
  for (const kind of tieredPolicies) {
    for (const stored of await listed(datastore, kind, signal)) {
      const object = read(kind, form, stored);
      if ("problem" in object) unreadable.push({ object: nameInMessages(kind, stored.id), problem: object.problem });
      else if (isOldName(object, stored)) {
        await rename(datastore, { form, stored, object }, signal);
        migrated += 1;
      }
    }
  }
  return { migrated, unreadable };
}

async function listed(datastore: Datastore, kind: ApiKind, signal: AbortSignal): Promise<readonly StoredObject[]> {
  try {
    return (await gather(datastore.list(kind, { signal }))).stored;
  } catch (error) {
    if (isDatastoreError(error, "no-such-kind")) return []; // clusters of earlier versions have no staged policies
    throw resourceErrorOf(error, { kind, id: { namespace: "", name: "*" } });
  }
}

function read(kind: ApiKind, form: StoredForm, stored: StoredObject): V3Object | { problem: string } {
  if (stored.problem !== undefined) return { problem: stored.problem };
  try {
    const { id, value, revision } = stored;
    return form === "etcdv3"
      ? fromEtcdResource(kind, { id, value, revision })
      : fromCustomResource(kind, value, revision);
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    return { problem: error.message };
  }
}

function isOldName({ metadata, spec }: V3Object, { id }: StoredObject): boolean {
  const isDefaultTier = spec.tier === undefined || spec.tier === "" || spec.tier === "default";
  return isDefaultTier && metadata.name !== undefined && metadata.name !== id.name;
}

type Renaming = { readonly form: StoredForm; readonly stored: StoredObject; readonly object: V3Object };

async function rename(datastore: Datastore, { form, stored, object }: Renaming, signal: AbortSignal): Promise<void> {
  const { kind, metadata } = object;
  const { uid: _, resourceVersion: __, ...kept } = metadata;
  const copy: V3Object = { ...object, metadata: kept };
  const id = { namespace: stored.id.namespace, name: metadata.name ?? "" };
  const value = form === "etcdv3" ? toEtcdResource(object) : toCustomResource(copy, { form });
  try {
    await datastore.create(kind, value, { id, signal });
  } catch (error) {
    if (!isDatastoreError(error, "exists")) throw resourceErrorOf(error, { kind, id });
    const there = await datastore.get(kind, id, { signal });
    const known = there === undefined ? undefined : read(kind, form, there);
    if (known === undefined || "problem" in known || writeJson(known.spec) !== writeJson(object.spec)) {
      throw twoOfThem(object, stored);
    }
  }
  try {
    await datastore.delete(kind, stored.id, { signal, revision: stored.revision });
  } catch (error) {
    if (!isDatastoreError(error, "not-found")) throw resourceErrorOf(error, { kind, id: stored.id });
  }
}

/** The original deletes the old one, and with it rules that the new one does not have. */
function twoOfThem({ kind, metadata: { name = "" } }: V3Object, { id }: StoredObject): ResourceError {
  const [older, newer] = [id, { ...id, name }].map((each) => nameInMessages(kind, each));
  return new ResourceError("conflict", `${older} cannot be renamed: ${newer} exists and says something else`, {
    next: `compare the two, and delete the one that is not wanted`,
  });
}
