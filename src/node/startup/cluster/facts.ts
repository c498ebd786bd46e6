// All that start-up reads before it decides and writes: its Node, what kubeadm and Rancher say, pools and configuration. Read a few at a time, because
// each connection costs a handshake; a right that is missing is a fact, too.
import { type Family, isRecord, type JsonRecord, parseCidr } from "../../../base/lib/index.ts";
import { type Datastore, isDatastoreError } from "../../../calico/datastore/index.ts";
import type { Kind } from "../../../calico/kinds/index.ts";
import { isResourceError, type Resources, type V3Object } from "../../../calico/resources/index.ts";
import { startupError } from "../startup-error.ts";
import { isForbidden, type Patience, patiently } from "./patience.ts";
import type { Need, Verb } from "./rights.ts";

/** "forbidden": we may not even look. */
export type Fact<T> =
  | { readonly is: "found"; readonly value: T }
  | { readonly is: "missing" }
  | { readonly is: "forbidden" };

export type ClusterFacts = {
  readonly pools: Fact<readonly V3Object[]>;
  readonly clusterInformation: Fact<V3Object>;
  readonly felix: Fact<V3Object>;
  readonly bgp: Fact<V3Object>;
  readonly ipam: Fact<V3Object>;
  readonly tiers: Fact<readonly V3Object[]>;
  /** How many of the node's affinities lack the labels by which they are found. */
  readonly oldAffinities: Fact<number>;
  /** The ConfigMap's data. */
  readonly kubeadm: JsonRecord | undefined;
  readonly isRancher: boolean;
  /** Of the Kubernetes Node; undefined: there is no Kubernetes. */
  readonly internalIps: readonly string[] | undefined;
  /** Reads that were refused. */
  readonly forbidden: readonly Need[];
};

export type FactSources = {
  readonly node: string;
  readonly datastore: Datastore;
  readonly resources: Resources;
  /** The Kubernetes API, where there is one: the datastore itself, or one beside etcd. */
  readonly kubernetes: Datastore | undefined;
  /** Undefined: it was read as the node itself. */
  readonly kubernetesNode: string | undefined;
  readonly needsPools: boolean;
  readonly patience: Patience;
};

const lanes = 3;
const cluster = (name: string) => ({ namespace: "", name });

export async function readFacts(sources: FactSources): Promise<ClusterFacts> {
  const { node, datastore, resources, kubernetes, kubernetesNode, needsPools, patience } = sources;
  const forbidden: Need[] = [];
  const fact = async <T>(kind: Kind, verb: Verb, read: (signal: AbortSignal) => Promise<T>): Promise<Fact<T>> => {
    try {
      return { is: "found", value: await patiently(read, patience) };
    } catch (error) {
      if (isResourceError(error, "not-found", "no-such-kind") || isDatastoreError(error, "no-such-kind"))
        return { is: "missing" };
      if (!isForbidden(error)) throw error;
      forbidden.push({ kind, verb });
      return { is: "forbidden" };
    }
  };
  const get =
    (kind: "ClusterInformation" | "FelixConfiguration" | "BGPConfiguration" | "IPAMConfiguration", stored: Kind) =>
    () =>
      fact(stored, "get", (signal) => resources.get(kind, cluster("default"), { signal }));
  const list = (kind: "IPPool" | "Tier") => () =>
    fact(kind, "list", async (signal) => (await resources.list(kind, { signal })).items);
  const [pools, clusterInformation, felix, bgp, ipam, tiers, oldAffinities, kubeadm, rancher, internalIps] =
    await inLanes(lanes, [
      needsPools ? list("IPPool") : async (): Promise<Fact<readonly V3Object[]>> => ({ is: "missing" }),
      get("ClusterInformation", "ClusterInformation"),
      get("FelixConfiguration", "FelixConfiguration"),
      get("BGPConfiguration", "BGPConfiguration"),
      get("IPAMConfiguration", "IPAMConfig"),
      list("Tier"),
      () => fact("BlockAffinity", "list", (signal) => countOldAffinities(node, datastore, signal)),
      () => configMap("kubeadm-config", kubernetes, patience),
      () => configMap("full-cluster-state", kubernetes, patience),
      () => internalIpsOf(kubernetesNode, kubernetes, patience),
    ]);
  // Who may not list tiers makes them, and is told that they are there.
  const needs = forbidden.filter(({ kind }) => kind !== "Tier");
  return {
    ...{ pools, clusterInformation, felix, bgp, ipam, tiers, oldAffinities, internalIps },
    kubeadm: kubeadm === undefined ? undefined : isRecord(kubeadm.data) ? kubeadm.data : {},
    isRancher: rancher !== undefined,
    forbidden: needs,
  };
}

/** etcd's keys have the node in them. */
async function countOldAffinities(node: string, datastore: Datastore, signal: AbortSignal): Promise<number> {
  if (datastore.flavour === "etcdv3") return 0;
  let count = 0;
  for await (const { items } of datastore.list("BlockAffinity", { signal })) {
    for (const { value } of items) {
      const { spec, metadata } = isRecord(value) ? value : {};
      const labels = isRecord(metadata) && isRecord(metadata.labels) ? metadata.labels : {};
      const isOwn = isRecord(spec) && spec.node === node && (spec.type ?? "host") === "host";
      if (isOwn && labels["projectcalico.org/hostname-hash"] === undefined) count += 1;
    }
  }
  return count;
}

/** Undefined: not there, or we may not look, which is as good. */
async function configMap(
  name: string,
  kubernetes: Datastore | undefined,
  patience: Patience,
): Promise<JsonRecord | undefined> {
  if (kubernetes === undefined) return undefined;
  try {
    const id = { namespace: "kube-system", name };
    const stored = await patiently((signal) => kubernetes.get("ConfigMap", id, { signal }), patience);
    return isRecord(stored?.value) ? stored.value : undefined;
  } catch (error) {
    if (isDatastoreError(error, "no-such-kind")) return undefined;
    if (!isForbidden(error)) throw error;
    const which = name === "kubeadm-config" ? "kubeadm" : "rancher";
    const lost = `assuming not on ${which}. CIDR detection will not occur.`;
    patience.log.info(`Unauthorized to query ${which} configmap, ${lost}`, { error });
    return undefined;
  }
}

/** Throws StartupError where Kubernetes has no such Node. */
export async function internalIpsOf(
  name: string | undefined,
  kubernetes: Datastore | undefined,
  patience: Patience,
): Promise<readonly string[] | undefined> {
  if (kubernetes === undefined || name === undefined) return undefined;
  const stored = await patiently((signal) => kubernetes.get("Node", cluster(name), { signal }), patience);
  if (stored === undefined) {
    throw startupError("Failed to read Node from datastore", {
      cause: new Error(`nodes "${name}" not found`),
      next: "Set CALICO_K8S_NODE_REF to the name of this machine's Node (kubectl get nodes), or let the kubelet register it",
    });
  }
  const status = isRecord(stored.value) && isRecord(stored.value.status) ? stored.value.status : {};
  return internalAddresses(status.addresses);
}

export function internalAddresses(addresses: unknown): readonly string[] {
  if (!Array.isArray(addresses)) return [];
  return addresses
    .filter(isRecord)
    .flatMap(({ type, address }) => (type === "InternalIP" && typeof address === "string" ? [address] : []));
}

/** podSubnet of kubeadm's configuration: the first of each family. */
export function kubeadmSubnets(data: JsonRecord): { readonly [family in Family]: string } {
  const line = Object.values(data)
    .map((text) => (typeof text === "string" ? /podSubnet: (.*)/.exec(text)?.[1] : undefined))
    .find((found) => found !== undefined);
  const found: { [family in Family]: string } = { 4: "", 6: "" };
  for (const text of (line ?? "").replace(/["']/g, "").split(",")) {
    const cidr = parseCidr(text.trim());
    if (cidr === undefined) break;
    found[cidr.ip.version] ||= text.trim();
  }
  return found;
}

type Tasks<T extends readonly unknown[]> = { readonly [At in keyof T]: () => Promise<T[At]> };

/** So many at a time, in order; the first failure is everybody's. */
async function inLanes<T extends readonly unknown[]>(count: number, tasks: readonly [...Tasks<T>]): Promise<T> {
  const results: unknown[] = [];
  const queue = tasks.entries();
  const lane = async () => {
    for (const [at, task] of queue) results[at] = await task();
  };
  await Promise.all(Array.from({ length: count }, lane));
  return results as unknown as T; // filled in the order of the tasks, which the type follows
}
