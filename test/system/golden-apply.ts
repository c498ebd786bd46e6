// Applies the steps of a golden case to a real API server, one write at a time, and takes them back afterwards. The
// operations are those of the corpus: create, update, status, delete, finalize, generate, ungenerate.
import { expand } from "../conformance/golden-case.ts";
import type { Cluster } from "../kit/cluster.ts";

export type ApiObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
};

export type Step = {
  readonly op: string;
  readonly objects?: readonly ApiObject[];
  readonly template?: ApiObject;
  readonly count?: number;
  readonly start?: number;
  readonly grace?: number;
  readonly reject?: boolean;
};

/** One write. Those of a bulk step were recorded together. */
export type Unit = { readonly op: string; readonly object: ApiObject; readonly step: Step };

export function unitsOf(step: Step): Unit[] {
  const { op, template, count = 0, start = 0 } = step;
  if (template === undefined) return (step.objects ?? []).map((object) => ({ op, object, step }));
  const one = op === "generate" ? "create" : "delete";
  return Array.from({ length: count }, (_, at) => ({ op: one, object: expand(template, start + at), step }));
}

/** As the recordings name an object: apiVersion, kind, namespace (where there is one) and name. */
export function labelOf({ apiVersion, kind, metadata }: ApiObject): string {
  return [apiVersion, kind, metadata.namespace, metadata.name].filter((part) => part).join(" ");
}

class Refused extends Error {
  readonly status: number;
  constructor(status: number, what: string) {
    super(what);
    this.status = status;
  }
}

/** The writes of one case, remembered so that they can be undone. */
export class Applied {
  readonly #cluster: Cluster;
  readonly #created = new Map<string, ApiObject>();
  readonly #originals = new Map<string, ApiObject>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** The API server's answer; undefined where the case wants the write refused, and it was. */
  async write({ op, object, step }: Unit): Promise<ApiObject | undefined> {
    const label = labelOf(object);
    if (op !== "create" && !this.#created.has(label) && !this.#originals.has(label)) {
      const answer = await this.#cluster.ask("GET", pathOf(object));
      if (answer.status === 200) this.#originals.set(label, JSON.parse(answer.body));
    }
    try {
      const answer = await this.#do(op, object, step.grace);
      if (op === "create" && !this.#originals.has(label)) this.#created.set(label, object);
      if (step.reject) throw new Error(`${label} was to be refused, and was not`);
      return answer;
    } catch (error) {
      if (step.reject && error instanceof Refused) return undefined;
      throw error;
    }
  }

  async undo(): Promise<void> {
    // The other way round, but many of a kind at once.
    const left = [...this.#created.values()].reverse();
    while (left.length > 0) {
      const next = left.findIndex(({ kind }) => kind !== left[0]?.kind);
      const alike = left.splice(0, Math.min(next === -1 ? left.length : next, 16));
      await Promise.all(alike.map((object) => this.#remove(object)));
    }
    for (const object of this.#originals.values()) await this.#restore(object);
  }

  async #do(op: string, object: ApiObject, grace = 0): Promise<ApiObject> {
    const path = pathOf(object);
    const manager = "?fieldManager=golden";
    switch (op) {
      case "create":
        return this.#ask("POST", collectionOf(object) + manager, object);
      case "update": {
        const stored = await this.#ask("GET", path);
        return this.#ask("PUT", path + manager, replacement(stored, object));
      }
      case "status": {
        const stored = await this.#ask("GET", path);
        return this.#ask("PUT", `${path}/status${manager}`, { ...stored, status: object.status });
      }
      case "delete": {
        const grace_ = object.kind === "Pod" ? { gracePeriodSeconds: grace } : {};
        const options = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Background", ...grace_ };
        return this.#ask("DELETE", path, options);
      }
      case "finalize": {
        const stored = await this.#ask("GET", path);
        return this.#ask("PUT", `${path}/finalize`, { ...stored, spec: { ...Object(stored.spec), finalizers: [] } });
      }
      default:
        throw new Error(`unknown operation ${op}`);
    }
  }

  async #ask(method: string, path: string, body?: unknown): Promise<ApiObject> {
    const answer = await this.#cluster.ask(method, path, body);
    if (answer.status < 300) return JSON.parse(answer.body);
    throw new Refused(answer.status, `${method} ${path}: ${answer.status} ${answer.body.slice(0, 300)}`);
  }

  /** However stuck it is; a missing one is fine. */
  async #remove(object: ApiObject): Promise<void> {
    try {
      const answer = await this.#do("delete", object);
      if (object.kind === "Namespace") await this.#do("finalize", object);
      else if (answer.metadata.finalizers) await this.#release(object);
    } catch (error) {
      if (!(error instanceof Refused && error.status === 404)) throw error;
    }
  }

  /** What finalizers keep after its deletion goes when they do. */
  async #release(object: ApiObject): Promise<void> {
    const stored = await this.#ask("GET", pathOf(object));
    await this.#ask("PUT", pathOf(object), { ...stored, metadata: { ...stored.metadata, finalizers: [] } });
  }

  async #restore(original: ApiObject): Promise<void> {
    const { resourceVersion, uid, creationTimestamp, managedFields, generation, ...metadata } = original.metadata;
    const object = { ...original, metadata } as ApiObject; // the name is among what is left
    try {
      await this.#do("update", object);
    } catch (error) {
      if (!(error instanceof Refused && error.status === 404)) throw error;
      await this.#do("create", object);
    }
  }
}

// A pod's spec cannot be changed: only labels and annotations are replaced.
function replacement(stored: ApiObject, object: ApiObject): object {
  const { resourceVersion } = stored.metadata;
  if (object.kind !== "Pod") return { ...object, metadata: { ...object.metadata, resourceVersion } };
  const { labels: _, annotations: __, ...rest } = stored.metadata;
  const { labels, annotations } = object.metadata;
  return { ...stored, metadata: { ...rest, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) } };
}

const plurals: { readonly [kind: string]: string } = {
  NetworkPolicy: "networkpolicies",
  GlobalNetworkPolicy: "globalnetworkpolicies",
  StagedGlobalNetworkPolicy: "stagedglobalnetworkpolicies",
  StagedNetworkPolicy: "stagednetworkpolicies",
  StagedKubernetesNetworkPolicy: "stagedkubernetesnetworkpolicies",
  ClusterNetworkPolicy: "clusternetworkpolicies",
  BlockAffinity: "blockaffinities",
  CalicoNodeStatus: "caliconodestatuses",
};

function collectionOf({ apiVersion, kind, metadata }: ApiObject): string {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const namespace = metadata.namespace ? `/namespaces/${metadata.namespace}` : "";
  return `${root}${namespace}/${plurals[kind] ?? `${kind.toLowerCase()}s`}`;
}

function pathOf(object: ApiObject): string {
  return `${collectionOf(object)}/${encodeURIComponent(object.metadata.name)}`;
}
