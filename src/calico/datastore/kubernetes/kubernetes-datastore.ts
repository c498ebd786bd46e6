// The datastore in front of a Kubernetes API server: Calico's kinds as custom resources, and the cluster's own.
import type { Clock, Log } from "../../../base/lib/index.ts";
import type { Kind } from "../../model/index.ts";
import type { Datastore, ListPage, ObjectId, Revision, StoredObject, WatchEvent } from "../datastore.ts";
import { DatastoreError, isDatastoreError } from "../errors.ts";
import { identify, isJsonObject, metadataOf } from "../identify.ts";
import { readVerbs, ruleYaml } from "../rights.ts";
import { ApiClient, type ApiRequest } from "./api-client.ts";
import { Discovery } from "./discovery.ts";
import { ListStyle, listKind } from "./list.ts";
import { loadIdentity } from "./load-identity.ts";
import { apiVersionOf, type CalicoGroup, collectionPath, objectPath, type Served, servedAt } from "./paths.ts";
import { RateLimit } from "./rate-limit.ts";
import { storedObject } from "./read-object.ts";
import { defaultClientBurst, defaultClientQps, type KubernetesSettings } from "./settings.ts";
import { readEvents } from "./watch.ts";

export type Verb = "get" | "list" | "watch" | "create" | "update" | "delete";

export type KubernetesDatastore = Datastore & {
  /** Which group Calico's kinds are read from; asks the server the first time. */
  calicoGroup(signal?: AbortSignal): Promise<CalicoGroup>;
  /** Whether the server has the kind at all. */
  isServed(kind: Kind, signal?: AbortSignal): Promise<boolean>;
  /** Asks the server whether we may; the rule to grant where not. */
  mayI(verb: Verb, kind: Kind, signal?: AbortSignal): Promise<{ may: true } | { may: false; missingRule: string }>;
};

type CallOptions = { signal?: AbortSignal };

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
    const rateLimit = new RateLimit(clock, {
      perSecond: settings.clientQps || defaultClientQps,
      burst: settings.clientBurst || defaultClientBurst,
    });
    this.#client = new ApiClient({ clock, log, rateLimit, load: () => loadIdentity(settings) });
    this.#discovery = new Discovery(this.#client, clock);
    this.#listStyle = new ListStyle(clock, settings.streamLists ?? true);
  }

  async *list(kind: Kind, options: { signal: AbortSignal; notOlderThan?: Revision }): AsyncGenerator<ListPage> {
    const { signal, notOlderThan } = options;
    const served = await this.#served(kind, signal);
    const path = collectionPath(served);
    try {
      yield* listKind({ client: this.#client, clock: this.#clock, kind, path, notOlderThan, signal }, this.#listStyle);
    } catch (error) {
      throw await this.#explain(error, served, signal);
    }
  }

  async *watch(kind: Kind, { from, signal }: { from: Revision; signal: AbortSignal }): AsyncGenerator<WatchEvent[]> {
    const served = await this.#served(kind, signal);
    const query = new URLSearchParams({ watch: "true", resourceVersion: from, allowWatchBookmarks: "true" });
    const path = `${collectionPath(served)}?${query}`;
    try {
      for await (const events of readEvents({ client: this.#client, clock: this.#clock, kind, path, signal })) {
        const said = events.filter((event) => event.is !== "initial-events-end");
        if (said.length > 0) yield said;
      }
    } catch (error) {
      throw await this.#explain(error, served, signal);
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

  async update(kind: Kind, object: StoredObject, { signal }: CallOptions = {}): Promise<StoredObject> {
    const served = await this.#served(kind, signal);
    const metadata = { ...metadataOf(object.value), resourceVersion: object.revision };
    const body = { ...asObject(object.value), metadata, apiVersion: apiVersionOf(served), kind: served.kindName };
    const path = objectPath(served, object.id);
    return storedObject(kind, await this.#call(served, "update", { path, body, signal }));
  }

  async delete(kind: Kind, id: ObjectId, options: CallOptions & { revision?: Revision } = {}): Promise<void> {
    const { revision, signal } = options;
    const served = await this.#served(kind, signal);
    const preconditions = revision === undefined ? {} : { preconditions: { resourceVersion: revision } };
    // Without a grace period a pod is gone at once, as every other kind is.
    const body = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0, ...preconditions };
    await this.#call(served, "delete", { path: objectPath(served, id), body, signal });
  }

  async calicoGroup(signal?: AbortSignal): Promise<CalicoGroup> {
    this.#calicoGroup ??= await this.#discovery.calicoGroup(this.#settings.apiGroup, signal);
    return this.#calicoGroup;
  }

  async isServed(kind: Kind, signal?: AbortSignal): Promise<boolean> {
    return this.#discovery.isServed(await this.#served(kind, signal), signal);
  }

  async mayI(verb: Verb, kind: Kind, signal?: AbortSignal) {
    const { group, plural } = await this.#served(kind, signal);
    const apiVersion = "authorization.k8s.io/v1";
    const spec = { resourceAttributes: { verb, group, resource: plural } };
    const answer = await this.#client.json({
      method: "POST",
      path: `/apis/${apiVersion}/selfsubjectaccessreviews`,
      body: { apiVersion, kind: "SelfSubjectAccessReview", spec },
      signal,
    });
    const status = isJsonObject(answer) ? answer.status : undefined;
    if (isJsonObject(status) && status.allowed === true) return { may: true } as const;
    const isRead = (readVerbs as readonly string[]).includes(verb);
    return { may: false, missingRule: ruleYaml(group, plural, isRead ? readVerbs : [verb]) } as const;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client[Symbol.dispose]();
  }

  async #served(kind: Kind, signal: AbortSignal | undefined): Promise<Served> {
    return servedAt(kind, await this.calicoGroup(signal));
  }

  async #call(served: Served, verb: keyof typeof methods, request: Omit<ApiRequest, "method">): Promise<unknown> {
    try {
      return await this.#client.json({ ...request, method: methods[verb] });
    } catch (error) {
      if (!isDatastoreError(error, "forbidden")) throw error;
      const missingRule = ruleYaml(served.group, served.plural, verb === "get" ? readVerbs : [verb]);
      throw new DatastoreError("forbidden", error.message, { cause: error, status: 403, missingRule });
    }
  }

  // Refused and absent look the same until discovery is asked. And one 404 is not enough to believe that a kind is gone,
  // with all its objects: a proxy in the way says it too.
  async #explain(error: unknown, served: Served, signal: AbortSignal): Promise<unknown> {
    if (!isDatastoreError(error, "forbidden", "not-found")) return error;
    const { plural, group } = served;
    if (error.code === "not-found" && builtInGroups.includes(group)) {
      return new DatastoreError("invalid", `${error.message}: is this a Kubernetes API server?`, { cause: error });
    }
    const isServed = await this.#discovery.isServed(served, signal).catch(() => true);
    if (!isServed) return new DatastoreError("not-found", `the server has no ${plural} in ${group}`, { cause: error });
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

function asObject(value: unknown): object {
  if (!isJsonObject(value)) throw new DatastoreError("invalid", "only an object can be stored");
  return value;
}
