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
import { type Clock, type Log, unreachable } from "../../../base/lib/index.ts";
import type { Kind } from "../../model/index.ts";
import type {
  CallOptions,
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
} from "../datastore.ts";
import { patchByUpdate, updateStatusByUpdate } from "../emulate-writes.ts";
import { DatastoreError, isDatastoreError } from "../errors.ts";
import { readVerbs, ruleYaml } from "../missing-rights.ts";
import { notInstalled } from "../no-such-kind.ts";
import { identify, isJsonObject, metadataOf } from "../object-id.ts";
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
import { datastoreErrorOf, storedObject, translated } from "./read-object.ts";

export type KubernetesSettings = KubeSettings & {
  /** CALICO_API_GROUP. Empty: found out by discovery. */
  readonly apiGroup?: string;
  /** False: never ask for streamed lists, only for pages. */
  readonly streamLists?: boolean;
};

export type Verb = "get" | "list" | "watch" | "create" | "update" | "delete";

export type KubernetesDatastore = Datastore & {
  /** Which group Calico's kinds are read from; asks the server the first time. */
  calicoGroup(signal?: AbortSignal): Promise<CalicoGroup>;
  /** Whether the server has the kind at all. */
  isServed(kind: Kind, signal?: AbortSignal): Promise<boolean>;
  /** Asks the server whether we may; the rule to grant where not. */
  mayI(verb: Verb, kind: Kind, signal?: AbortSignal): Promise<{ may: true } | { may: false; missingRule: string }>;
};

export type KubernetesOptions = { readonly clock: Clock; readonly log: Log };

/** Reads the configuration, so that a bad one stops the start; the server itself need not be there yet. */
export async function openKubernetes(
  settings: KubernetesSettings,
  options: KubernetesOptions,
): Promise<KubernetesDatastore> {
  await loadIdentity(settings);
  return new Kubernetes(settings, options);
}

class Kubernetes implements KubernetesDatastore {
  readonly flavour = "kubernetes";
  readonly #settings: KubernetesSettings;
  readonly #clock: Clock;
  readonly #client: ApiClient;
  readonly #discovery: Discovery;
  readonly #listStyle: ListStyle;
  #calicoGroup: CalicoGroup | undefined;

  constructor(settings: KubernetesSettings, { clock, log }: KubernetesOptions) {
    this.#settings = settings;
    this.#clock = clock;
    this.#client = new ApiClient(settings, { clock, log });
    this.#discovery = new Discovery(this.#client, clock);
    this.#listStyle = new ListStyle(clock, settings.streamLists ?? true);
  }

  async *list(kind: Kind, { signal, notOlderThan }: ListOptions): AsyncGenerator<ListPage> {
    const served = await this.#served(kind, signal);
    const request = { ...this.#reading(kind, signal), path: collectionPath(served), notOlderThan };
    try {
      for await (const page of list({ ...request, isSilence: isDatastoreError }, this.#listStyle)) {
        const { items, gone } = page;
        const revision = page.revision as Revision; // opaque from here on
        yield gone === undefined ? { items, revision } : { items, gone: [gone.id], revision };
      }
    } catch (error) {
      throw await this.#explain(error, kind, served, signal);
    }
  }

  async *watch(kind: Kind, { from, signal }: WatchOptions): AsyncGenerator<WatchEvent[]> {
    const served = await this.#served(kind, signal);
    const request = { ...this.#reading(kind, signal), path: collectionPath(served), from };
    try {
      for await (const events of watch(request)) {
        const said = events.flatMap(watchEvent);
        if (said.length > 0) yield said;
      }
    } catch (error) {
      throw await this.#explain(error, kind, served, signal);
    }
  }

  async get(kind: Kind, id: ObjectId, { signal }: CallOptions = {}): Promise<StoredObject | undefined> {
    const served = await this.#served(kind, signal);
    try {
      return storedObject(kind, await this.#call(served, "get", { path: objectPath(served, id), signal }));
    } catch (error) {
      if (isDatastoreError(error, "not-found")) return undefined;
      throw error;
    }
  }

  async create(kind: Kind, value: unknown, { signal }: CallOptions = {}): Promise<StoredObject> {
    const served = await this.#served(kind, signal);
    const path = collectionPath(served, identify(kind, value, { defaultNamespace: "default" }).namespace);
    // A copy of a stored object may be stored again under another name; its revision is the old one's.
    const { resourceVersion: _, ...metadata } = metadataOf(value);
    const body = { ...asObject(value), metadata, apiVersion: apiVersionOf(served), kind: served.kindName };
    return storedObject(kind, await this.#call(served, "create", { path, body, signal }));
  }

  async update(kind: Kind, object: StoredObject, { signal, through }: UpdateOptions = {}): Promise<StoredObject> {
    const served = await this.#served(kind, signal);
    const metadata = { ...metadataOf(object.value), resourceVersion: object.revision };
    const body = { ...asObject(object.value), metadata, apiVersion: apiVersionOf(served), kind: served.kindName };
    const path = `${objectPath(served, object.id)}${through === "status" ? "/status" : ""}`;
    return storedObject(kind, await this.#call(served, "update", { path, body, signal }));
  }

  updateStatus(kind: Kind, object: StoredObject, options: CallOptions = {}): Promise<StoredObject> {
    return updateStatusByUpdate(this, kind, object, options);
  }

  patch(kind: Kind, id: ObjectId, patch: Patch, options: PatchOptions = {}): Promise<StoredObject> {
    return patchByUpdate(this, kind, id, { ...options, patch });
  }

  async delete(kind: Kind, id: ObjectId, options: DeleteOptions = {}): Promise<void> {
    const { revision, uid, gracePeriodSeconds, signal } = options;
    const served = await this.#served(kind, signal);
    const preconditions = { resourceVersion: revision, uid };
    const body = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds, preconditions };
    await this.#call(served, "delete", { path: objectPath(served, id), body, signal });
  }

  async calicoGroup(signal?: AbortSignal): Promise<CalicoGroup> {
    this.#calicoGroup ??= await translated(calicoGroupOf(this.#settings.apiGroup, this.#discovery, signal));
    return this.#calicoGroup;
  }

  async isServed(kind: Kind, signal?: AbortSignal): Promise<boolean> {
    return this.#isServed(await this.#served(kind, signal), signal);
  }

  async mayI(verb: Verb, kind: Kind, signal?: AbortSignal) {
    const { group, plural } = await this.#served(kind, signal);
    const apiVersion = "authorization.k8s.io/v1";
    const spec = { resourceAttributes: { verb, group, resource: plural } };
    const path = `/apis/${apiVersion}/selfsubjectaccessreviews`;
    const body = { apiVersion, kind: "SelfSubjectAccessReview", spec };
    const answer = await translated(this.#client.json({ method: "POST", path, body, signal }));
    const status = isJsonObject(answer) ? answer.status : undefined;
    if (isJsonObject(status) && status.allowed === true) return { may: true } as const;
    const isRead = (readVerbs as readonly string[]).includes(verb);
    return { may: false, missingRule: ruleYaml(group, plural, isRead ? readVerbs : [verb]) } as const;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client[Symbol.dispose]();
  }

  #reading(kind: Kind, signal: AbortSignal) {
    const read = (object: unknown) => storedObject(kind, object);
    return { client: this.#client, clock: this.#clock, signal, read };
  }

  #isServed(served: Served, signal: AbortSignal | undefined): Promise<boolean> {
    return translated(this.#discovery.isServed(groupPath(served), served.plural, signal));
  }

  async #served(kind: Kind, signal: AbortSignal | undefined): Promise<Served> {
    return servedAt(kind, await this.calicoGroup(signal));
  }

  async #call(served: Served, verb: keyof typeof methods, request: Omit<ApiRequest, "method">): Promise<unknown> {
    try {
      return await translated(this.#client.json({ ...request, method: methods[verb] }));
    } catch (error) {
      if (!isDatastoreError(error, "forbidden")) throw error;
      const missingRule = ruleYaml(served.group, served.plural, verb === "get" ? readVerbs : [verb]);
      throw new DatastoreError("forbidden", error.message, { cause: error, status: 403, missingRule });
    }
  }

  // Refused and absent look the same until discovery is asked. And one 404 is not enough to believe that a kind is gone,
  // with all its objects: a proxy in the way says it too.
  async #explain(thrown: unknown, kind: Kind, served: Served, signal: AbortSignal): Promise<unknown> {
    const error = datastoreErrorOf(thrown);
    if (!isDatastoreError(error, "forbidden", "not-found")) return error;
    const { plural, group } = served;
    if (error.code === "not-found" && builtInGroups.includes(group)) {
      return new DatastoreError("invalid", `${error.message}: is this a Kubernetes API server?`, { cause: error });
    }
    const isServed = await this.#isServed(served, signal).catch(() => true);
    if (!isServed) return notInstalled(kind, served, error);
    const { status = 0 } = error;
    if (error.code === "not-found") return new DatastoreError("unavailable", error.message, { cause: error, status });
    return new DatastoreError("forbidden", error.message, {
      cause: error,
      status,
      missingRule: ruleYaml(group, plural),
    });
  }
}

const methods = { get: "GET", create: "POST", update: "PUT", delete: "DELETE" } as const;

/** Every API server has these. */
const builtInGroups = ["", "networking.k8s.io"];

function watchEvent(event: KubeEvent<StoredObject>): WatchEvent[] {
  switch (event.is) {
    case "set":
      return [event];
    case "delete":
      return [{ is: "delete", id: event.object.id, revision: event.object.revision }];
    case "bookmark":
      return [{ is: "bookmark", revision: event.revision as Revision }]; // opaque from here on
    case "initial-events-end": // of a streamed list, and this is none
      return [];
    default:
      return unreachable(event);
  }
}

function asObject(value: unknown): object {
  if (!isJsonObject(value)) throw new DatastoreError("invalid", "only an object can be stored");
  return value;
}
