// An API server as the cases of start-up see it.
import type { JsonRecord } from "../../../src/base/lib/index.ts";
import type { Cluster } from "../cluster.ts";
import { type CaseObject, shapeOf } from "./case.ts";

const crd = "/apis/crd.projectcalico.org/v1";
const rbac = "/apis/rbac.authorization.k8s.io/v1";
const kinds: { readonly [kind: string]: readonly [group: string, plural: string] } = {
  IPPool: [crd, "ippools"],
  IPReservation: [crd, "ipreservations"],
  FelixConfiguration: [crd, "felixconfigurations"],
  BGPConfiguration: [crd, "bgpconfigurations"],
  ClusterInformation: [crd, "clusterinformations"],
  IPAMConfig: [crd, "ipamconfigs"],
  Tier: [crd, "tiers"],
  BlockAffinity: [crd, "blockaffinities"],
  IPAMBlock: [crd, "ipamblocks"],
  IPAMHandle: [crd, "ipamhandles"],
  Node: ["/api/v1", "nodes"],
  ConfigMap: ["/api/v1", "configmaps"],
  ClusterRole: [rbac, "clusterroles"],
  ClusterRoleBinding: [rbac, "clusterrolebindings"],
};
const dumped = Object.keys(kinds).filter((kind) => kinds[kind]?.[0] === crd);
/** What the API server itself keeps there. */
const kept = /^(kube-root-ca\.crt|extension-apiserver-authentication|kube-apiserver-legacy.*)$/;

type Stored = JsonRecord & {
  readonly metadata: { readonly name: string; readonly annotations?: { readonly [name: string]: string } };
  readonly status?: { readonly conditions?: readonly { type: string; status: string; reason?: string }[] };
};

export class StartupStore {
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  async clear(): Promise<void> {
    const plain = [...dumped, "Node"].map((kind) => this.#cluster.must("DELETE", pathOf(kind)));
    const golden = ["ClusterRole", "ClusterRoleBinding"].map(async (kind) => {
      for (const { metadata } of await this.list(kind)) {
        if (metadata.name.startsWith("golden")) await this.#cluster.must("DELETE", pathOf(kind, metadata.name));
      }
    });
    const maps = async () => {
      const within = "/api/v1/namespaces/kube-system/configmaps";
      const { items } = (await this.#cluster.must("GET", within)) as { items: Stored[] };
      for (const { metadata } of items) {
        if (!kept.test(metadata.name)) await this.#cluster.must("DELETE", `${within}/${metadata.name}`);
      }
    };
    await Promise.all([...plain, ...golden, maps()]);
  }

  async apply(object: CaseObject): Promise<void> {
    const { kind, metadata } = object;
    const path = pathOf(kind, metadata.name, metadata.namespace);
    const old = await this.#cluster.ask("GET", path);
    if (old.status === 200) {
      const { resourceVersion } = (JSON.parse(old.body) as { metadata: { resourceVersion: string } }).metadata;
      await this.#cluster.must("PUT", path, { ...object, metadata: { ...metadata, resourceVersion } });
    } else await this.#cluster.must("POST", pathOf(kind, undefined, metadata.namespace), object);
    if (kind === "Node" && object.status !== undefined) {
      const node = (await this.#cluster.must("GET", path)) as JsonRecord;
      await this.#cluster.must("PUT", `${path}/status`, { ...node, status: object.status });
    }
  }

  async annotate(name: string, changes: { readonly [name: string]: string | null }): Promise<void> {
    const path = pathOf("Node", name);
    const node = (await this.#cluster.must("GET", path)) as Stored;
    const annotations: Record<string, string> = { ...node.metadata.annotations };
    for (const [key, value] of Object.entries(changes)) {
      if (value === null) delete annotations[key];
      else annotations[key] = value;
    }
    await this.#cluster.must("PUT", path, { ...node, metadata: { ...node.metadata, annotations } });
  }

  async list(kind: string): Promise<readonly Stored[]> {
    return ((await this.#cluster.must("GET", pathOf(kind))) as { items: Stored[] }).items;
  }

  /** The specs of all Calico objects, by kind and name. */
  async snapshot(): Promise<Map<string, JsonRecord>> {
    const all = new Map<string, JsonRecord>();
    await Promise.all(
      dumped.map(async (kind) => {
        for (const object of await this.list(kind)) all.set(`${kind}/${object.metadata.name}`, shapeOf(kind, object));
      }),
    );
    return all;
  }

  async nodes(): Promise<{ readonly [name: string]: unknown }> {
    const nodes = (await this.list("Node")).map(({ metadata, status }) => {
      const own = Object.entries(metadata.annotations ?? {}).filter(([name]) => name.startsWith("projectcalico.org/"));
      const condition = status?.conditions?.find(({ type }) => type === "NetworkUnavailable");
      const networkUnavailable = condition === undefined ? null : [condition.status, condition.reason ?? null];
      return [metadata.name, { annotations: Object.fromEntries(own), networkUnavailable }] as const;
    });
    return Object.fromEntries(nodes);
  }
}

function pathOf(kind: string, name?: string, namespace?: string): string {
  const [group, plural] = kinds[kind] ?? ["", kind];
  const within = namespace !== undefined ? `/namespaces/${namespace}` : "";
  return `${group}${within}/${plural}${name === undefined ? "" : `/${name}`}`;
}
