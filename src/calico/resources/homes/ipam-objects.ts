// IPAM's blocks, affinities and handles as the loop of address management reads and writes them: by what they are about instead of
// by name, without the rules for what users write, each at its revision. The stored forms are those of forms/ipam.ts.
//
// A revision here is the datastore's, and in Kubernetes also the object's uid, because a deletion names both: then one DELETE
// is as safe as the original's mark and DELETE.
import { isRecord, type JsonRecord } from "../../../base/lib/index.ts";
import type { Datastore, Revision, StoredObject, Within } from "../../datastore/index.ts";
import { FieldError } from "../../model/index.ts";
import { fromCustomResource } from "../forms/custom-resource.ts";
import {
  affinityRecordId,
  affinityRecordOwner,
  blockRecordId,
  fromIpamRecord,
  type IpamKind,
  toIpamCustomResource,
  toIpamRecord,
} from "../forms/ipam.ts";
import { affinityName, cidrName, handleName, hostnameHash, type Id } from "../names.ts";
import { notFound, resourceErrorOf, unreadable } from "../resource-error.ts";
import { toV3 } from "../v3-object.ts";
import type { Call, Unreadable } from "./home.ts";
import { gather, type StoredForm, storedFormOf } from "./object-home.ts";

export type IpamObjectKind = Exclude<IpamKind, "IPAMConfig">;

/** What an object is about, which says where it is kept. */
export type IpamRef =
  | { readonly kind: "IPAMBlock"; readonly cidr: string }
  | { readonly kind: "BlockAffinity"; readonly type: string; readonly node: string; readonly cidr: string }
  | { readonly kind: "IPAMHandle"; readonly handle: string };

export type IpamObject = {
  readonly spec: JsonRecord;
  readonly revision: string;
  /** Tells it from another object that is made under its name later; in etcd the revision at which it was made. */
  readonly uid?: string | undefined;
};

export type ListedIpamObjects = {
  readonly items: readonly IpamObject[];
  readonly unreadable: readonly Unreadable[];
};

/** Every method throws ResourceError: "exists" of a create; "conflict" and "not-found" of an update and a deletion. */
export type IpamObjects = {
  get(ref: IpamRef, call?: Call): Promise<IpamObject | undefined>;
  /** In the order of names. */
  list(kind: IpamObjectKind, call?: Call): Promise<ListedIpamObjects>;
  /** Those that their labels, or in etcd their keys, say to be of this owner and family. */
  listAffinitiesOf(owner: { type: string; node: string; family: 4 | 6 }, call?: Call): Promise<ListedIpamObjects>;
  /** The revision that is stored now. */
  create(ref: IpamRef, spec: JsonRecord, call?: Call): Promise<string>;
  update(ref: IpamRef, object: Pick<IpamObject, "spec" | "revision">, call?: Call): Promise<string>;
  delete(ref: IpamRef, revision: string, call?: Call): Promise<void>;
};

export function openIpamObjects(datastore: Datastore): IpamObjects {
  return new StoredIpamObjects(datastore);
}

class StoredIpamObjects implements IpamObjects {
  readonly #datastore: Datastore;
  #form: StoredForm | undefined;

  constructor(datastore: Datastore) {
    this.#datastore = datastore;
  }

  async get(ref: IpamRef, { signal }: Call = {}): Promise<IpamObject | undefined> {
    return await this.#translated(ref, async () => {
      const form = await this.#storedForm(signal);
      const stored = await this.#datastore.get(ref.kind, storedId(ref, form), { signal });
      if (stored?.problem !== undefined) throw unreadable(ref.kind, named(ref), stored.problem);
      return stored === undefined ? undefined : read(ref.kind, stored, form);
    });
  }

  async list(kind: IpamObjectKind, { signal }: Call = {}): Promise<ListedIpamObjects> {
    const found = await this.#listed(kind, {}, signal);
    if (kind !== "BlockAffinity" || this.#datastore.flavour !== "etcdv3") return found;
    // Services' affinities are not among those of nodes.
    const { items, unreadable: bad } = await this.#listed(
      kind,
      { namePrefix: affinityRecordOwner("", "virtual") },
      signal,
    );
    return { items: [...found.items, ...items], unreadable: [...found.unreadable, ...bad] };
  }

  async listAffinitiesOf(
    { type, node, family }: { type: string; node: string; family: 4 | 6 },
    { signal }: Call = {},
  ): Promise<ListedIpamObjects> {
    const labels = [
      `projectcalico.org/affinity-type=${type}`,
      `projectcalico.org/hostname-hash=${hostnameHash(node)}`,
      `projectcalico.org/ip-version=${family}`,
    ].join(",");
    const namePrefix = `${affinityRecordOwner(node, type)}/ipv${family}/block/`;
    const within = this.#datastore.flavour === "etcdv3" ? { namePrefix } : { labels };
    return await this.#listed("BlockAffinity", within, signal);
  }

  async create(ref: IpamRef, spec: JsonRecord, { signal }: Call = {}): Promise<string> {
    return await this.#translated(ref, async () => {
      const form = await this.#storedForm(signal);
      const { id, value } = toStored(ref, { spec, form });
      return revisionOf(await this.#datastore.create(ref.kind, value, { id, signal }), form);
    });
  }

  async update(
    ref: IpamRef,
    { spec, revision }: Pick<IpamObject, "spec" | "revision">,
    { signal }: Call = {},
  ): Promise<string> {
    return await this.#translated(ref, async () => {
      const form = await this.#storedForm(signal);
      const { id, value } = toStored(ref, { spec, form });
      const { stored } = partsOf(revision);
      return revisionOf(await this.#datastore.update(ref.kind, { id, value, revision: stored }, { signal }), form);
    });
  }

  async delete(ref: IpamRef, revision: string, { signal }: Call = {}): Promise<void> {
    await this.#translated(ref, async () => {
      const form = await this.#storedForm(signal);
      const { stored, uid } = partsOf(revision);
      const at = { revision: stored, ...(uid === undefined ? {} : { uid }) };
      await this.#datastore.delete(ref.kind, storedId(ref, form), { ...at, signal });
    });
  }

  async #listed(kind: IpamObjectKind, within: Within, signal: AbortSignal | undefined): Promise<ListedIpamObjects> {
    try {
      const form = await this.#storedForm(signal);
      const pages = this.#datastore.list(kind, { signal: signal ?? new AbortController().signal, within });
      const { stored } = await gather(pages);
      const items: IpamObject[] = [];
      const bad: Unreadable[] = [];
      for (const each of stored) {
        const found = each.problem === undefined ? tryRead(kind, each, form) : each.problem;
        if (typeof found === "string") bad.push({ id: each.id, problem: found });
        else items.push(found);
      }
      return { items, unreadable: bad };
    } catch (error) {
      throw resourceErrorOf(error, { kind, id: { namespace: "", name: "*" } });
    }
  }

  async #storedForm(signal: AbortSignal | undefined): Promise<StoredForm> {
    this.#form ??= await storedFormOf(this.#datastore, { signal });
    return this.#form;
  }

  async #translated<T>(ref: IpamRef, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof FieldError) throw unreadable(ref.kind, named(ref), error.message, error);
      throw resourceErrorOf(error, { kind: ref.kind, id: named(ref) });
    }
  }
}

/** As the v3 object is called. */
function named(ref: IpamRef): Id {
  switch (ref.kind) {
    case "IPAMBlock":
      return { namespace: "", name: required(ref, cidrName(ref.cidr)) };
    case "BlockAffinity":
      return { namespace: "", name: required(ref, affinityName(ref.node, ref.cidr)) };
    case "IPAMHandle":
      return { namespace: "", name: handleName(ref.handle) };
  }
}

function required(ref: IpamRef & { readonly cidr: string }, name: string | undefined): string {
  if (name === undefined) throw notFound(ref.kind, { namespace: "", name: ref.cidr }, "it is not a CIDR");
  return name;
}

function storedId(ref: IpamRef, form: StoredForm): Id {
  if (form !== "etcdv3") return named(ref);
  switch (ref.kind) {
    case "IPAMBlock":
      return blockRecordId(ref.cidr);
    case "BlockAffinity":
      return affinityRecordId(ref.node, ref.cidr, ref.type);
    case "IPAMHandle":
      return { namespace: "", name: ref.handle };
  }
}

function toStored(ref: IpamRef, { spec, form }: { spec: JsonRecord; form: StoredForm }): { id: Id; value: unknown } {
  const id = named(ref);
  const object = toV3(ref.kind, { metadata: { name: id.name }, spec });
  return form === "etcdv3" ? toIpamRecord(object) : { id, value: toIpamCustomResource(object, form) };
}

function read(kind: IpamObjectKind, stored: StoredObject, form: StoredForm): IpamObject {
  const object =
    form === "etcdv3" ? fromIpamRecord(kind, stored) : fromCustomResource(kind, stored.value, stored.revision);
  const revision = revisionOf(stored, form);
  return { spec: object.spec, revision, uid: partsOf(revision).uid ?? stored.made };
}

function tryRead(kind: IpamObjectKind, stored: StoredObject, form: StoredForm): IpamObject | string {
  try {
    return read(kind, stored, form);
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    return error.message;
  }
}

/** The uid as it is stored; a blank cannot be part of either. */
function revisionOf({ revision, value }: StoredObject, form: StoredForm): string {
  const metadata = isRecord(value) ? value.metadata : undefined;
  const uid = isRecord(metadata) ? metadata.uid : undefined;
  return form === "etcdv3" || typeof uid !== "string" || uid === "" ? revision : `${revision} ${uid}`;
}

function partsOf(revision: string): { stored: Revision; uid: string | undefined } {
  const [stored = "", uid] = revision.split(" ");
  return { stored: stored as Revision, uid }; // the brand was taken off above
}
