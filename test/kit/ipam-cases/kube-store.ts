// An API server as the cases see it.
import { type JsonRecord, parseJson } from "../../../src/base/lib/index.ts";
import type { Cluster } from "../cluster.ts";
import type { CaseObject, Edit, Take } from "./case.ts";
import { type CaseStore, merged, withPoolDefaults } from "./case-store.ts";
import { normalStore } from "./normal-form.ts";

const group = "/apis/crd.projectcalico.org/v1";
const plurals: { readonly [kind: string]: string } = {
  IPPool: "ippools",
  IPReservation: "ipreservations",
  ClusterInformation: "clusterinformations",
  BlockAffinity: "blockaffinities",
  IPAMBlock: "ipamblocks",
  IPAMHandle: "ipamhandles",
  IPAMConfig: "ipamconfigs",
};
const dumped = ["BlockAffinity", "IPAMBlock", "IPAMHandle", "IPAMConfig"];
const podSpec = { containers: [{ name: "c", image: "none" }], terminationGracePeriodSeconds: 0 };
const shownMetadata = ["labels", "annotations", "finalizers", "ownerReferences"];

type Stored = {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly resourceVersion: string;
    readonly labels?: object;
    readonly annotations?: { readonly [name: string]: string };
  };
  readonly spec: { readonly [name: string]: unknown };
};

export class KubeStore implements CaseStore {
  readonly kind = "kubernetes";
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  async clear(): Promise<void> {
    for (const plural of Object.values(plurals)) await this.#must("DELETE", `${group}/${plural}`);
    await this.#must("DELETE", "/api/v1/nodes");
    const pods = (await this.#must("GET", "/api/v1/pods")) as { items: Stored[] };
    for (const { metadata } of pods.items) await this.delete({ kind: "Pod", metadata });
    const { items } = (await this.#must("GET", "/api/v1/namespaces")) as { items: Stored[] };
    for (const { metadata } of items.filter(({ metadata: { name } }) => !name.startsWith("kube-"))) {
      if (metadata.name === "default") await this.#resetDefault(metadata);
      else await this.#removeNamespace(metadata.name);
    }
  }

  async apply(given: CaseObject): Promise<void> {
    const { spec, ...rest } = withPoolDefaults(given);
    const isOurs = plurals[given.kind] !== undefined;
    const object = {
      ...rest,
      apiVersion: isOurs ? "crd.projectcalico.org/v1" : "v1",
      ...(given.kind === "Node" || spec === undefined ? {} : { spec }), // a v3 spec means nothing to Kubernetes
      ...(given.kind === "Pod" ? { spec: merged(podSpec, spec ?? {}) } : {}),
    };
    const path = pathOf(given.kind, given.metadata.namespace);
    const { status, body } = await this.#cluster.ask("POST", path, object);
    if (status === 409) await this.#replace(`${path}/${given.metadata.name}`, object, given.kind);
    else if (status >= 300) throw new Error(`${given.kind} ${given.metadata.name}: ${status} ${body}`);
  }

  async delete({ kind, metadata: { name, namespace } }: CaseObject): Promise<void> {
    const options = kind === "Pod" ? { gracePeriodSeconds: 0, propagationPolicy: "Background" } : undefined;
    const { status, body } = await this.#cluster.ask("DELETE", `${pathOf(kind, namespace)}/${name}`, options);
    if (status >= 300 && status !== 404) throw new Error(`${kind} ${name}: ${status} ${body}`);
  }

  /** Somebody else changes a pod. */
  async labelPod(id: string, labels: { readonly [name: string]: string }): Promise<void> {
    const [namespace, name] = id.split("/");
    const path = `${pathOf("Pod", namespace)}/${name}`;
    const current = (await this.#must("GET", path)) as { metadata: JsonRecord };
    await this.#must("PUT", path, merged(current as unknown as JsonRecord, { metadata: { labels } }));
  }

  async edit({ kind, name, change }: Edit): Promise<void> {
    const path = `${pathOf(kind)}/${name}`;
    const current = (await this.#must("GET", path)) as { readonly [name: string]: unknown };
    await this.#must("PUT", path, merged(current, change));
  }

  /** Another program allocates an ordinal, handle and all. */
  async take({ block, ordinal, handle, node }: Take): Promise<void> {
    const path = `${group}/ipamblocks/${block}`;
    const current = (await this.#must("GET", path)) as {
      spec: {
        cidr: string;
        attributes: object[];
        allocations: (number | null)[];
        unallocated: number[];
        sequenceNumber: number | bigint;
        sequenceNumberForAllocation?: { [ordinal: string]: number | bigint };
      };
    };
    const { spec } = current;
    spec.attributes.push({ handle_id: handle, secondary: { node } });
    spec.allocations[ordinal] = spec.attributes.length - 1;
    spec.unallocated = spec.unallocated.filter((free) => free !== ordinal);
    spec.sequenceNumberForAllocation = { ...spec.sequenceNumberForAllocation, [ordinal]: spec.sequenceNumber };
    spec.sequenceNumber = BigInt(spec.sequenceNumber) + 1n;
    await this.#must("PUT", path, current);
    const counts = { handleID: handle, block: { [spec.cidr]: 1 }, deleted: false };
    await this.apply({ kind: "IPAMHandle", metadata: { name: handle.toLowerCase() }, spec: counts });
  }

  async dump(startedMs: number) {
    return normalStore(await this.#ipamObjects(), startedMs);
  }

  async dumpWithEndpoints(startedMs: number) {
    return normalStore(new Map([...(await this.#ipamObjects()), ...(await this.podMarks())]), startedMs);
  }

  async podMarks(): Promise<ReadonlyMap<string, unknown>> {
    const { items } = (await this.#must("GET", "/api/v1/pods")) as { items: Stored[] };
    const marks = items.map(({ metadata: { name, namespace, annotations = {} } }) => {
      const ours = Object.entries(annotations).filter(([key]) => key.includes("projectcalico.org"));
      return [`Pod/${namespace}/${name}`, { annotations: Object.fromEntries(ours) }] as const;
    });
    return new Map(marks);
  }

  async #ipamObjects(): Promise<ReadonlyMap<string, unknown>> {
    const found = new Map<string, unknown>();
    for (const kind of dumped) {
      const { items } = (await this.#must("GET", pathOf(kind))) as { items: Stored[] };
      for (const { metadata, spec } of items) {
        const shown = Object.entries(metadata).filter(([name]) => shownMetadata.includes(name));
        found.set(`${kind}/${metadata.name}`, {
          ...(shown.length === 0 ? {} : { metadata: Object.fromEntries(shown) }),
          spec,
        });
      }
    }
    return found;
  }

  async #replace(path: string, object: { metadata: JsonRecord }, kind: string): Promise<void> {
    const current = (await this.#must("GET", path)) as Stored;
    if (kind === "Pod" || kind === "Node" || kind === "Namespace") {
      const { labels = {}, annotations = {} } = object.metadata;
      await this.#must("PUT", path, { ...current, metadata: { ...current.metadata, labels, annotations } }); // what others own stays
      return;
    }
    const { resourceVersion } = current.metadata;
    await this.#must("PUT", path, { ...object, metadata: { ...object.metadata, resourceVersion } });
  }

  async #resetDefault({ labels = {}, annotations = {} }: Stored["metadata"]): Promise<void> {
    if (Object.keys(labels).length <= 1 && Object.keys(annotations).length === 0) return;
    const current = (await this.#must("GET", "/api/v1/namespaces/default")) as { metadata: object };
    const metadata = { ...current.metadata, labels: { "kubernetes.io/metadata.name": "default" }, annotations: {} };
    await this.#must("PUT", "/api/v1/namespaces/default", { ...current, metadata });
  }

  /** Nobody here finalizes namespaces. */
  async #removeNamespace(name: string): Promise<void> {
    const path = `/api/v1/namespaces/${name}`;
    await this.#cluster.ask("DELETE", path);
    const { status, body } = await this.#cluster.ask("GET", path);
    if (status !== 200) return;
    const left = JSON.parse(body) as { spec: object };
    await this.#cluster.ask("PUT", `${path}/finalize`, { ...left, spec: { ...left.spec, finalizers: [] } });
  }

  async #must(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await this.#cluster.ask(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body.slice(0, 500)}`);
    return parseJson(answer.body); // numbers above 2^53 must stay what they are
  }
}

function pathOf(kind: string, namespace = "default"): string {
  const plural = plurals[kind];
  if (plural !== undefined) return `${group}/${plural}`;
  if (kind === "Pod") return `/api/v1/namespaces/${namespace}/pods`;
  return kind === "Node" ? "/api/v1/nodes" : "/api/v1/namespaces";
}
