// A datastore in front of another one that stores nothing: what is written stays here, and whoever reads afterwards sees it
// in place of what is stored. So the rules about other objects (a policy's tier, pools that overlap) hold inside a file that
// was never written. An API server is asked to check each write as if it were one (dryRun=All); other datastores check nothing.
import type { Kind } from "../kinds/index.ts";
import type {
  CallOptions,
  CreateOptions,
  Datastore,
  DeleteOptions,
  ListOptions,
  ListPage,
  ObjectId,
  Patch,
  PatchOptions,
  Revision,
  StoredObject,
  UpdateOptions,
  WatchEvent,
} from "./datastore.ts";
import { withStatusOf } from "./emulate-writes.ts";
import { DatastoreError } from "./errors.ts";
import type { KubernetesDatastore } from "./kubernetes/kubernetes-datastore.ts";
import { applyPatch } from "./merge-patch.ts";
import { identify, idText } from "./object-id.ts";
import { selectionOf } from "./within.ts";

/** Closing it closes nothing: the datastore behind it is the caller's. */
export function createDryRun(datastore: Datastore): Datastore {
  if (!isKubernetes(datastore)) return new DryRun(datastore, undefined);
  const server = datastore.asDryRun();
  // What makes it an API server to those who ask for one.
  return Object.assign(new DryRun(datastore, server), {
    calicoGroup: (signal?: AbortSignal) => datastore.calicoGroup(signal),
    isServed: (kind: Kind, signal?: AbortSignal) => datastore.isServed(kind, signal),
  });
}

function isKubernetes(datastore: Datastore): datastore is KubernetesDatastore {
  return "asDryRun" in datastore;
}

/** `real`: the revision that the datastore behind has; undefined: it has no such object. */
type Pretended = { readonly object: StoredObject | undefined; readonly real: Revision | undefined };

class DryRun implements Datastore {
  readonly flavour;
  readonly holdsEveryKind?: true;
  readonly #datastore: Datastore;
  readonly #server: KubernetesDatastore | undefined;
  readonly #pretended = new Map<Kind, Map<string, Pretended>>();
  #writes = 0;

  constructor(datastore: Datastore, server: KubernetesDatastore | undefined) {
    this.flavour = datastore.flavour;
    if (datastore.holdsEveryKind === true) this.holdsEveryKind = true;
    this.#datastore = datastore;
    this.#server = server;
  }

  async get(kind: Kind, id: ObjectId, options?: CallOptions): Promise<StoredObject | undefined> {
    const pretended = this.#found(kind, id);
    return pretended === undefined ? await this.#datastore.get(kind, id, options) : pretended.object;
  }

  async *list(kind: Kind, options: ListOptions): AsyncGenerator<ListPage> {
    const pretended = this.#pretended.get(kind) ?? new Map<string, Pretended>();
    let revision = "" as Revision; // no page, no revision
    for await (const page of this.#datastore.list(kind, options)) {
      revision = page.revision;
      yield { ...page, items: page.items.filter(({ id }) => !pretended.has(idText(id))) };
    }
    const selection = selectionOf(options.within);
    const items = [...pretended.values()].flatMap(({ object }) =>
      object !== undefined && selection.has(object) ? [object] : [],
    );
    if (items.length > 0) yield { items, revision };
  }

  // biome-ignore lint/correctness/useYield: nothing ever happens in what is not written
  async *watch(kind: Kind): AsyncGenerator<WatchEvent[]> {
    throw new DatastoreError("unsupported", `${kind}: a dry run cannot be watched`);
  }

  async create(kind: Kind, value: unknown, options: CreateOptions = {}): Promise<StoredObject> {
    const id = options.id ?? identify(kind, value, { defaultNamespace: "default" });
    const pretended = this.#found(kind, id);
    if (pretended?.object !== undefined) throw exists(kind, id);
    if (pretended === undefined && this.#server !== undefined) {
      return this.#keep(kind, await this.#server.create(kind, value, options), undefined);
    }
    const stored = pretended === undefined ? await this.#datastore.get(kind, id, options) : undefined;
    if (stored !== undefined) throw exists(kind, id);
    return this.#keep(kind, { id, value, revision: "" as Revision }, pretended?.real);
  }

  async update(kind: Kind, object: StoredObject, options: UpdateOptions = {}): Promise<StoredObject> {
    const { real, stored } = await this.#expected(kind, object, options);
    if (this.#server === undefined) return this.#keep(kind, object, real);
    const checked =
      real === undefined
        ? await this.#server.create(kind, object.value, options)
        : await this.#server.update(kind, { ...object, revision: real }, options);
    return this.#keep(kind, { ...checked, id: stored.id }, real);
  }

  async updateStatus(kind: Kind, object: StoredObject, options: CallOptions = {}): Promise<StoredObject> {
    const { stored } = await this.#expected(kind, object, options);
    return await this.update(kind, { ...object, value: withStatusOf(object.value, stored) }, options);
  }

  async patch(kind: Kind, id: ObjectId, patch: Patch, options: PatchOptions = {}): Promise<StoredObject> {
    const stored = await this.get(kind, id, options);
    if (stored === undefined) throw missing(kind, id);
    const { revision = stored.revision, signal, through } = options;
    return await this.update(kind, { id, revision, value: applyPatch(stored.value, patch) }, { signal, through });
  }

  async delete(kind: Kind, id: ObjectId, options: DeleteOptions = {}): Promise<void> {
    const stored = await this.get(kind, id, options);
    if (stored === undefined) throw missing(kind, id);
    const { real } = await this.#expected(kind, { ...stored, revision: options.revision ?? stored.revision }, options);
    this.#put(kind, id, { object: undefined, real });
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #expected(
    kind: Kind,
    { id, revision }: StoredObject,
    options: CallOptions,
  ): Promise<{ real: Revision | undefined; stored: StoredObject }> {
    const pretended = this.#found(kind, id);
    const stored = pretended === undefined ? await this.#datastore.get(kind, id, options) : pretended.object;
    if (stored === undefined) throw missing(kind, id);
    if (stored.revision !== revision) {
      throw new DatastoreError("conflict", `${kind} ${id.name} has another revision than ${revision}`);
    }
    return { real: pretended === undefined ? stored.revision : pretended.real, stored };
  }

  #found(kind: Kind, id: ObjectId): Pretended | undefined {
    return this.#pretended.get(kind)?.get(idText(id));
  }

  #keep(kind: Kind, object: StoredObject, real: Revision | undefined): StoredObject {
    this.#writes += 1;
    const kept = { ...object, revision: `dry-run-${this.#writes}` as Revision }; // of nobody's but ours
    this.#put(kind, object.id, { object: kept, real });
    return kept;
  }

  #put(kind: Kind, id: ObjectId, pretended: Pretended): void {
    const known = this.#pretended.get(kind) ?? new Map<string, Pretended>();
    this.#pretended.set(kind, known.set(idText(id), pretended));
  }
}

function exists(kind: Kind, { name }: ObjectId): DatastoreError {
  return new DatastoreError("exists", `${kind} ${name} exists`);
}

function missing(kind: Kind, { name }: ObjectId): DatastoreError {
  return new DatastoreError("not-found", `${kind} ${name} does not exist`);
}
