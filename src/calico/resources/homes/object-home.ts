// Kinds that a datastore keeps as objects of their own: custom resources, or values in etcd.

import { translateUid } from "../../convert/views.ts";
import {
  type Datastore,
  type EditOptions,
  edit,
  type KubernetesDatastore,
  type ListPage,
  type StoredObject,
} from "../../datastore/index.ts";
import { type Kind, kindInfo } from "../../kinds/index.ts";
import { compareUtf8, FieldError } from "../../model/index.ts";
import type { ApiKind } from "../api-kinds.ts";
import { type CustomResourceForm, fromCustomResource, toCustomResource } from "../forms/custom-resource.ts";
import { fromEtcdResource, toEtcdResource } from "../forms/etcd.ts";
import {
  fromIpamRecord,
  isIpamKind,
  nameOfRecord,
  recordIdOfName,
  toIpamCustomResource,
  toIpamRecord,
} from "../forms/ipam.ts";
import type { Id } from "../names.ts";
import { isResourceError, notFound, resourceErrorOf, unreadable, type Why } from "../resource-error.ts";
import type { V3Object } from "../v3-object.ts";
import {
  asRevision,
  type Call,
  type ChangeV3,
  type DeleteCall,
  type Home,
  type ListCall,
  type Listed,
  type ResourceEvent,
  type Unreadable,
  type WatchCall,
} from "./home.ts";

/** How the datastore writes Calico's objects. */
export type StoredForm = CustomResourceForm | "etcdv3";

export type ObjectHomeOptions = {
  readonly datastore: Datastore;
  readonly kind: ApiKind;
  /** The datastore's name for it. */
  readonly storedKind: Kind;
  readonly form: StoredForm;
  readonly editing: Pick<EditOptions, "clock" | "random" | "mostUnanswered">;
};

type Stored = { readonly id: Id; readonly value: unknown; readonly revision: string };

export function createObjectHome(options: ObjectHomeOptions): Home {
  return new ObjectHome(options);
}

class ObjectHome implements Home {
  readonly #options: ObjectHomeOptions;

  constructor(options: ObjectHomeOptions) {
    this.#options = options;
  }

  async get(id: Id, { signal }: Call): Promise<V3Object> {
    const { datastore, storedKind, kind } = this.#options;
    const stored = await this.#translated(id, async () =>
      datastore.get(storedKind, await this.#storedId(id), { signal }),
    );
    if (stored === undefined) throw notFound(kind, id, this.#why(id).notFound);
    return this.#read(stored, id);
  }

  async list({ signal = new AbortController().signal, within }: ListCall): Promise<Listed> {
    const { datastore, storedKind } = this.#options;
    const pages = datastore.list(storedKind, { signal, ...(within === undefined ? {} : { within }) });
    const found = await this.#translated({ namespace: within?.namespace ?? "", name: "*" }, () => gather(pages));
    const items: V3Object[] = [];
    const bad: Unreadable[] = [];
    for (const stored of found.stored) {
      const read = this.#tryRead(stored);
      if ("problem" in read) bad.push({ id: stored.id, problem: read.problem });
      else items.push(read.object);
    }
    return { items, unreadable: bad, revision: found.revision };
  }

  async *watch({ from, signal, within }: WatchCall): AsyncGenerator<ResourceEvent[]> {
    const { datastore, storedKind, kind } = this.#options;
    const narrowing = within === undefined ? {} : { within };
    try {
      for await (const events of datastore.watch(storedKind, { from: asRevision(from), signal, ...narrowing })) {
        yield events.map((event): ResourceEvent => {
          if (event.is === "bookmark") return { is: "bookmark", revision: event.revision };
          if (event.is === "delete") return { is: "delete", id: this.#namedId(event.id) };
          const read = this.#tryRead(event.object);
          if (!("problem" in read)) return { is: "set", object: read.object };
          return { is: "unreadable", id: event.object.id, problem: read.problem };
        });
      }
    } catch (error) {
      throw resourceErrorOf(error, { kind, id: { namespace: "", name: "*" } });
    }
  }

  async create(object: V3Object, { signal }: Call): Promise<V3Object> {
    const { datastore, storedKind } = this.#options;
    const id = idOf(object);
    const { id: storedId, value } = this.#toStored(object);
    const stored = await this.#translated(id, () => datastore.create(storedKind, value, { id: storedId, signal }));
    return this.#read(stored, id);
  }

  async update(object: V3Object, { signal }: Call): Promise<V3Object> {
    const { datastore, storedKind } = this.#options;
    const id = idOf(object);
    const { id: storedId, value } = this.#toStored(object);
    const revision = asRevision(object.metadata.resourceVersion ?? "");
    const stored = await this.#translated(id, () =>
      datastore.update(storedKind, { id: storedId, value, revision }, { signal }),
    );
    return this.#read(stored, id);
  }

  async updateStatus(object: V3Object, { signal }: Call): Promise<V3Object> {
    const { datastore, storedKind } = this.#options;
    const id = idOf(object);
    const { id: storedId, value } = this.#toStored(object);
    const revision = asRevision(object.metadata.resourceVersion ?? "");
    const stored = await this.#translated(id, () =>
      datastore.updateStatus(storedKind, { id: storedId, value, revision }, { signal }),
    );
    return this.#read(stored, id);
  }

  async edit(id: Id, change: ChangeV3, { signal }: Call): Promise<V3Object | undefined> {
    const { datastore, storedKind, editing } = this.#options;
    const decide = async (current: StoredObject | undefined) => {
      const next = await change(current === undefined ? undefined : this.#read(current, id));
      return next === "nothing" || next === "delete" ? next : { value: this.#toStored(next).value };
    };
    const { object } = await this.#translated(id, async () =>
      edit(datastore, storedKind, await this.#storedId(id), decide, { signal, ...editing }),
    );
    return object === undefined ? undefined : this.#read(object, id);
  }

  async delete(id: Id, { signal, revision, uid }: DeleteCall): Promise<void> {
    const { datastore, storedKind } = this.#options;
    try {
      await this.#translated(id, async () =>
        datastore.delete(storedKind, await this.#storedId(id), {
          signal,
          ...(revision === undefined ? {} : { revision: asRevision(revision) }),
          ...(uid === undefined ? {} : { uid: this.#storedUid(uid) }),
        }),
      );
    } catch (error) {
      // Another object has the name now: the one that was meant is gone, as the original says it.
      if (uid === undefined || !isResourceError(error, "conflict")) throw error;
      const { metadata } = await this.get(id, { signal });
      throw metadata.uid === uid
        ? error
        : notFound(this.#options.kind, id, `its uid is ${metadata.uid}, not ${uid}`, error);
    }
  }

  #toStored(object: V3Object): { id: Id; value: unknown } {
    const { form, kind } = this.#options;
    const id = idOf(object);
    if (form === "etcdv3") return isIpamKind(kind) ? toIpamRecord(object) : { id, value: toEtcdResource(object) };
    if (isIpamKind(kind)) return { id, value: toIpamCustomResource(object, form) };
    return { id, value: toCustomResource(object, { form }) };
  }

  #fromStored(stored: Stored): V3Object {
    const { form, kind } = this.#options;
    if (form !== "etcdv3") return fromCustomResource(kind, stored.value, stored.revision);
    return isIpamKind(kind) ? fromIpamRecord(kind, stored) : fromEtcdResource(kind, stored);
  }

  #tryRead(stored: StoredObject): { object: V3Object } | { problem: string; cause?: unknown } {
    if (stored.problem !== undefined) return { problem: stored.problem };
    try {
      return { object: this.#fromStored(stored) };
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      return { problem: error.message, cause: error };
    }
  }

  #read(stored: StoredObject, id: Id): V3Object {
    const read = this.#tryRead(stored);
    if ("object" in read) return read.object;
    throw unreadable(this.#options.kind, id, read.problem, read.cause);
  }

  /** Where the object of that name is kept. Affinities in etcd are not kept by name, so they are looked for. */
  async #storedId(id: Id): Promise<Id> {
    const { form, kind } = this.#options;
    if (form !== "etcdv3" || !isIpamKind(kind)) return id;
    const known = recordIdOfName(kind, id.name);
    if (known !== undefined) return known;
    if (kind !== "BlockAffinity") throw notFound(kind, id, undefined);
    const { items } = await this.list({});
    const found = items.find(({ metadata }) => metadata.name === id.name);
    if (found === undefined) throw notFound(kind, id, undefined);
    return toIpamRecord(found).id;
  }

  /** What an object that is gone was called. */
  #namedId(id: Id): Id {
    const { form, kind } = this.#options;
    if (form !== "etcdv3" || !isIpamKind(kind)) return id;
    return { namespace: "", name: nameOfRecord(kind, id) };
  }

  #storedUid(uid: string): string {
    return this.#options.form === "crd.projectcalico.org" ? (translateUid(uid) ?? uid) : uid;
  }

  #why({ name }: Id): Why {
    const { form, storedKind } = this.#options;
    if (form === "etcdv3") return {};
    const { kubernetes } = kindInfo(storedKind);
    const place = kubernetes === undefined ? storedKind : `${kubernetes.plural}.${form}`;
    return { notFound: `${place} "${name}" not found`, exists: `${place} "${name}" already exists` };
  }

  async #translated<T>(id: Id, ask: () => Promise<T>): Promise<T> {
    const { kind } = this.#options;
    try {
      return await ask();
    } catch (error) {
      if (error instanceof FieldError) throw unreadable(kind, id, error.message, error);
      throw resourceErrorOf(error, { kind, id, why: this.#why(id) });
    }
  }
}

export function idOf({ metadata: { namespace = "", name = "" } }: V3Object): Id {
  return { namespace, name };
}

export async function gather(
  pages: AsyncIterable<ListPage>,
): Promise<{ stored: readonly StoredObject[]; revision: string }> {
  const found = new Map<string, StoredObject>();
  let revision = "";
  const keyOf = ({ namespace, name }: Id) => `${namespace}/${name}`;
  for await (const page of pages) {
    for (const stored of page.items) found.set(keyOf(stored.id), stored);
    for (const id of page.gone ?? []) found.delete(keyOf(id));
    revision = page.revision;
  }
  // A streamed list comes in any order.
  const stored = [...found.values()].sort((a, b) => compareUtf8(keyOf(a.id), keyOf(b.id)));
  return { stored, revision };
}

/** An API server says which group it has; folders and memory hold v3 objects as they are. */
export async function storedFormOf(datastore: Datastore, { signal }: Call): Promise<StoredForm> {
  if (datastore.flavour === "etcdv3") return "etcdv3";
  return isApiServer(datastore) ? await datastore.calicoGroup(signal) : "projectcalico.org";
}

export function isApiServer(datastore: Datastore): datastore is KubernetesDatastore {
  return "calicoGroup" in datastore;
}
