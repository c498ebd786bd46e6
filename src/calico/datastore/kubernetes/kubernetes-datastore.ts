// The datastore in front of a Kubernetes API server: Calico's kinds as custom resources, and the cluster's own.
import {
  ApiClient,
  type ApiRequest,
  Discovery,
  type KubeEvent,
  type KubeSettings,
  ListStyle,
  list,
  loadIdentity,
  watch,
} from "../../../base/kube/index.ts";
import { type Clock, isRecord, type Log, unreachable } from "../../../base/lib/index.ts";
import type { Kind } from "../../kinds/index.ts";
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
  WatchOptions,
  Within,
} from "../datastore.ts";
import { updateStatusByUpdate } from "../emulate-writes.ts";
import { DatastoreError, isDatastoreError } from "../errors.ts";
import { identify, metadataOf } from "../object-id.ts";
import { type Selection, selectionOf } from "../within.ts";
import { type Account, type Asker, isAllowed, whoAsks } from "./access-reviews.ts";
import {
  apiVersionOf,
  type CalicoGroup,
  calicoGroupOf,
  collectionPath,
  groupPath,
  objectPath,
  type Served,
  servedAt,
} from "./paths.ts";
import { storedObject, translated } from "./read-object.ts";
import { explainRefusal, missingRule, type Refused, type Verb } from "./refusals.ts";

export type KubernetesSettings = KubeSettings & {
  /** CALICO_API_GROUP. Empty: found out by discovery. */
  readonly apiGroup?: string;
  /** False: never ask for streamed lists, only for pages. */
  readonly streamLists?: boolean;
};

export type KubernetesDatastore = Datastore & {
  /** Which group Calico's kinds are read from; asks the server the first time. */
  calicoGroup(signal?: AbortSignal): Promise<CalicoGroup>;
  /** Whether the server has the kind at all. */
  isServed(kind: Kind, signal?: AbortSignal): Promise<boolean>;
  /** Asks the server whether we may, or whether an account may; the rule to grant where not. */
  mayI(
    verb: Verb,
    kind: Kind,
    options?: { signal?: AbortSignal; account?: Account },
  ): Promise<{ may: true } | { may: false; missingRule: string }>;
  /** Who we are to the server, and where our credentials come from. */
  whoAsks(signal?: AbortSignal): Promise<Asker>;
  /** The same server over the same connections; it checks and answers every write as always, and stores none. */
  asDryRun(): KubernetesDatastore;
  /** The server itself, for what is no kind of ours: its path is asked for, and KubeError says what is wrong. */
  readonly api: Pick<ApiClient, "json" | "open">;
};

export type KubernetesOptions = { readonly clock: Clock; readonly log: Log };

/** Reads the configuration, so that a bad one stops the start; the server itself need not be there yet. */
export async function openKubernetes(
  settings: KubernetesSettings,
  options: KubernetesOptions,
): Promise<KubernetesDatastore> {
  const { from } = await loadIdentity(settings);
  const client = new ApiClient(settings, options);
  const discovery = new Discovery(client, options.clock);
  const listStyle = new ListStyle(options.clock, settings.streamLists ?? true);
  return new Kubernetes({ settings, clock: options.clock, from, client, discovery, listStyle, isDryRun: false });
}

type Parts = {
  readonly settings: KubernetesSettings;
  readonly clock: Clock;
  readonly from: string;
  readonly client: ApiClient;
  readonly discovery: Discovery;
  readonly listStyle: ListStyle;
  readonly isDryRun: boolean;
};

class Kubernetes implements KubernetesDatastore {
  readonly flavour = "kubernetes";
  readonly #parts: Parts;
  readonly #client: ApiClient;
  readonly #discovery: Discovery;
  readonly api: KubernetesDatastore["api"];
  #calicoGroup: CalicoGroup | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#client = parts.client;
    this.api = parts.client;
    this.#discovery = parts.discovery;
  }

  asDryRun(): KubernetesDatastore {
    return new Kubernetes({ ...this.#parts, isDryRun: true });
  }

  async *list(kind: Kind, { signal, notOlderThan, within }: ListOptions): AsyncGenerator<ListPage> {
    const served = await this.#served(kind, signal);
    const selection = selectionOf(notByServer(within));
    const request = { ...this.#reading(kind, signal), path: selectedPath(served, within), notOlderThan };
    try {
      for await (const page of list({ ...request, isSilence: isDatastoreError }, this.#parts.listStyle)) {
        const items = page.items.filter(({ id }) => selection.hasId(id));
        const revision = page.revision as Revision; // opaque from here on
        yield page.gone === undefined ? { items, revision } : { items, gone: [page.gone.id], revision };
      }
    } catch (error) {
      throw await this.#explain(error, { kind, served, verb: "list" }, signal);
    }
  }

  async *watch(kind: Kind, { from, signal, within }: WatchOptions): AsyncGenerator<WatchEvent[]> {
    const served = await this.#served(kind, signal);
    const selection = selectionOf(notByServer(within));
    const request = { ...this.#reading(kind, signal), path: selectedPath(served, within), from };
    try {
      for await (const events of watch(request)) {
        const said = events.flatMap((event) => watchEvent(event, selection));
        if (said.length > 0) yield said;
      }
    } catch (error) {
      throw await this.#explain(error, { kind, served, verb: "watch" }, signal);
    }
  }

  async get(kind: Kind, id: ObjectId, { signal }: CallOptions = {}): Promise<StoredObject | undefined> {
    const served = await this.#served(kind, signal);
    try {
      return await this.#call({ kind, served, verb: "get" }, { path: objectPath(served, id), signal });
    } catch (error) {
      if (isDatastoreError(error, "not-found")) return undefined;
      throw error;
    }
  }

  async create(kind: Kind, value: unknown, { signal }: CreateOptions = {}): Promise<StoredObject> {
    const served = await this.#served(kind, signal);
    const path = collectionPath(served, identify(kind, value, { defaultNamespace: "default" }).namespace);
    // A copy of a stored object may be stored again under another name; its revision is the old one's.
    const { resourceVersion: _, ...metadata } = metadataOf(value);
    return await this.#call({ kind, served, verb: "create" }, { path, body: bodyOf(served, value, metadata), signal });
  }

  async update(kind: Kind, object: StoredObject, { signal, through }: UpdateOptions = {}): Promise<StoredObject> {
    return await this.#put(kind, object, { signal, subresource: through === "status" ? through : undefined });
  }

  async updateStatus(kind: Kind, object: StoredObject, { signal }: CallOptions = {}): Promise<StoredObject> {
    const served = await this.#served(kind, signal);
    if (!(await this.#hasStatus(served, signal))) return await updateStatusByUpdate(this, kind, object, { signal });
    return await this.#put(kind, object, { signal, subresource: "status" });
  }

  async patch(kind: Kind, id: ObjectId, patch: Patch, options: PatchOptions = {}): Promise<StoredObject> {
    const { revision, signal, through } = options;
    const served = await this.#served(kind, signal);
    const isStatus = through === "status" || ("status" in patch && (await this.#hasStatus(served, signal)));
    const metadata = { ...("metadata" in patch ? patch.metadata : {}), resourceVersion: revision };
    const subresource = isStatus ? "status" : undefined;
    return await this.#call(
      { kind, served, verb: "patch", subresource },
      {
        path: objectPath(served, id, subresource),
        body: { ...patch, metadata },
        contentType: "application/merge-patch+json",
        signal,
      },
    );
  }

  async delete(kind: Kind, id: ObjectId, options: DeleteOptions = {}): Promise<void> {
    const { revision, uid, gracePeriodSeconds, signal } = options;
    const served = await this.#served(kind, signal);
    const preconditions = { resourceVersion: revision, uid };
    const body = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds, preconditions };
    await this.#send({ kind, served, verb: "delete" }, { path: objectPath(served, id), body, signal });
  }

  async calicoGroup(signal?: AbortSignal): Promise<CalicoGroup> {
    this.#calicoGroup ??= await translated(calicoGroupOf(this.#parts.settings.apiGroup, this.#discovery, signal));
    return this.#calicoGroup;
  }

  async isServed(kind: Kind, signal?: AbortSignal): Promise<boolean> {
    return this.#isServed(await this.#served(kind, signal), signal);
  }

  async mayI(verb: Verb, kind: Kind, { signal, account }: { signal?: AbortSignal; account?: Account } = {}) {
    const served = await this.#served(kind, signal);
    if (await isAllowed({ verb, served, account }, { client: this.#client, signal })) return { may: true } as const;
    return { may: false, missingRule: missingRule({ served, verb }) } as const;
  }

  whoAsks(signal?: AbortSignal): Promise<Asker> {
    return whoAsks({ client: this.#client, signal, from: this.#parts.from });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client[Symbol.dispose]();
  }

  #reading(kind: Kind, signal: AbortSignal) {
    const read = (object: unknown) => storedObject(kind, object);
    return { client: this.#client, clock: this.#parts.clock, signal, read };
  }

  #isServed(served: Served, signal: AbortSignal | undefined): Promise<boolean> {
    return translated(this.#discovery.isServed(groupPath(served), served.plural, signal));
  }

  /** Whether the kind's status is written by itself. */
  #hasStatus(served: Served, signal: AbortSignal | undefined): Promise<boolean> {
    return translated(this.#discovery.isServed(groupPath(served), `${served.plural}/status`, signal));
  }

  async #served(kind: Kind, signal: AbortSignal | undefined): Promise<Served> {
    return servedAt(kind, await this.calicoGroup(signal));
  }

  async #put(
    kind: Kind,
    object: StoredObject,
    { signal, subresource }: CallOptions & { subresource: "status" | undefined },
  ): Promise<StoredObject> {
    const served = await this.#served(kind, signal);
    const path = objectPath(served, object.id, subresource);
    return await this.#call(
      { kind, served, verb: "update", subresource },
      { path, body: bodyAt(served, object), signal },
    );
  }

  /** The object that the server answers with. */
  async #call(what: What, request: Omit<ApiRequest, "method">): Promise<StoredObject> {
    const answer = await this.#send(what, request);
    return storedObject(what.kind, this.#parts.isDryRun ? withRevision(answer) : answer);
  }

  async #send(what: What, request: Omit<ApiRequest, "method">): Promise<unknown> {
    const query = this.#parts.isDryRun && what.verb !== "get" ? "?dryRun=All" : "";
    try {
      return await this.#client.json({ ...request, path: `${request.path}${query}`, method: methods[what.verb] });
    } catch (error) {
      throw await this.#explain(error, what, request.signal);
    }
  }

  #explain(error: unknown, what: Omit<Refused, "isServed">, signal: AbortSignal | undefined): Promise<unknown> {
    return explainRefusal(error, { ...what, isServed: () => this.#isServed(what.served, signal) });
  }
}

type What = Omit<Refused, "isServed"> & { readonly verb: keyof typeof methods };

const methods = { get: "GET", create: "POST", update: "PUT", patch: "PATCH", delete: "DELETE" } as const;

/** Namespace, labels and a name are the server's work. */
function selectedPath(served: Served, { namespace, labels = "", name }: Within = {}): string {
  const path = collectionPath(served, namespace);
  const query = new URLSearchParams({
    ...(labels === "" ? {} : { labelSelector: labels }),
    ...(name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }),
  });
  return query.size === 0 ? path : `${path}?${query}`;
}

/** It cannot be asked for names with a prefix. */
function notByServer({ namespace, namePrefix }: Within = {}): Within {
  return { ...(namespace === undefined ? {} : { namespace }), ...(namePrefix === undefined ? {} : { namePrefix }) };
}

function watchEvent(event: KubeEvent<StoredObject>, selection: Selection): WatchEvent[] {
  switch (event.is) {
    case "set":
      return selection.hasId(event.object.id) ? [event] : [];
    case "delete": {
      const { id, revision } = event.object;
      return selection.hasId(id) ? [{ is: "delete", id, revision }] : [];
    }
    case "bookmark":
      return [{ is: "bookmark", revision: event.revision as Revision }]; // opaque from here on
    case "initial-events-end": // of a streamed list, and this is none
      return [];
    default:
      return unreachable(event);
  }
}

/** What is not stored has none. */
function withRevision(answer: unknown): unknown {
  if (!isRecord(answer)) return answer;
  return { ...answer, metadata: { resourceVersion: "dry-run", ...metadataOf(answer) } };
}

function bodyAt(served: Served, { value, revision }: StoredObject): object {
  return bodyOf(served, value, { ...metadataOf(value), resourceVersion: revision });
}

function bodyOf(served: Served, value: unknown, metadata: object): object {
  if (!isRecord(value)) throw new DatastoreError("invalid", "only an object can be stored");
  return { ...value, metadata, apiVersion: apiVersionOf(served), kind: served.kindName };
}
