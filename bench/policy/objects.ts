// The objects of the benches, written to the API server: pods, policies, sets.

import type { Cluster } from "../../test/kit/cluster.ts";
import type { ApiObject } from "../../test/kit/policy-world.ts";

const plurals: { readonly [kind: string]: string } = {
  Node: "/api/v1/nodes",
  Namespace: "/api/v1/namespaces",
  ServiceAccount: "/api/v1/namespaces/NS/serviceaccounts",
  Pod: "/api/v1/namespaces/NS/pods",
  NetworkPolicy: "/apis/networking.k8s.io/v1/namespaces/NS/networkpolicies",
  IPPool: "/apis/crd.projectcalico.org/v1/ippools",
  Tier: "/apis/crd.projectcalico.org/v1/tiers",
  GlobalNetworkPolicy: "/apis/crd.projectcalico.org/v1/globalnetworkpolicies",
  GlobalNetworkSet: "/apis/crd.projectcalico.org/v1/globalnetworksets",
};

function pathOf({ kind, metadata }: ApiObject): string {
  const path = plurals[kind];
  if (path === undefined) throw new Error(`no path for ${kind}`);
  return path.replace("NS", String(metadata.namespace));
}

export async function create(cluster: Cluster, object: ApiObject): Promise<void> {
  await cluster.must("POST", pathOf(object), object);
}

export async function remove(cluster: Cluster, object: ApiObject): Promise<void> {
  await cluster.must("DELETE", `${pathOf(object)}/${object.metadata.name}?gracePeriodSeconds=0`);
}

export async function patch(cluster: Cluster, object: ApiObject, change: object): Promise<void> {
  const path = `${pathOf(object)}/${object.metadata.name}`;
  const now = (await cluster.must("GET", path)) as ApiObject; // what was asked for by its path
  await cluster.must("PUT", path, { ...now, ...change });
}

export async function createPod(cluster: Cluster, pod: ApiObject): Promise<void> {
  await create(cluster, pod);
  await patchStatus(cluster, pod);
}

async function patchStatus(cluster: Cluster, pod: ApiObject): Promise<void> {
  const path = `${pathOf(pod)}/${pod.metadata.name}`;
  const now = (await cluster.must("GET", path)) as ApiObject; // as above
  await cluster.must("PUT", `${path}/status`, { ...now, status: pod.status });
}

/** So many at once. */
export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>, atOnce = 16): Promise<void> {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.pop(); item !== undefined; item = queue.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

export function podObject(name: string, ip: string, labels: object = {}): ApiObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "green", name, labels },
    spec: { nodeName: "node-a", containers: [{ name: "c", image: "none" }], terminationGracePeriodSeconds: 0 },
    status: { phase: "Running", podIP: ip, podIPs: [{ ip }] },
  };
}

export function policyObject(name: string, selector: string, ingress: readonly object[]): ApiObject {
  return {
    apiVersion: "crd.projectcalico.org/v1",
    kind: "GlobalNetworkPolicy",
    metadata: { name: `default.${name}` },
    spec: { tier: "default", order: 500, selector, types: ["Ingress"], ingress },
  };
}
