// What is in a fresh cluster before any case: the built-in namespaces, the API server's own service, and what a Typha
// creates at its first start. The recordings leave out what did not change from it.
import type { ApiObject } from "./golden-case.ts";

const uid = "0a1b2c3d-4e5f-4a6b-8c7d-9e8f7a6b5c4d";

function object(
  apiVersion: string,
  kind: string,
  rest: { namespace?: string; name: string; spec?: object },
): ApiObject {
  const { name, namespace, spec } = rest;
  const creationTimestamp = "2026-01-01T00:00:00Z";
  const labels = kind === "Namespace" ? { labels: { "kubernetes.io/metadata.name": name } } : {};
  const inNamespace = namespace === undefined ? {} : { namespace };
  const metadata = { name, ...inNamespace, uid, resourceVersion: "100", creationTimestamp, ...labels };
  return { apiVersion, kind, metadata, ...(spec === undefined ? {} : { spec }) };
}

const calico = "crd.projectcalico.org/v1";
const clusterInformation = { clusterGUID: "0123456789abcdef", clusterType: "typha,kdd", datastoreReady: true };

export const baseline: readonly ApiObject[] = [
  ...["default", "kube-node-lease", "kube-public", "kube-system"].map((name) => object("v1", "Namespace", { name })),
  object("v1", "Service", { namespace: "default", name: "kubernetes", spec: { clusterIP: "10.96.0.1" } }),
  object(calico, "ClusterInformation", { name: "default", spec: clusterInformation }),
  object(calico, "Tier", { name: "default", spec: { order: 1_000_000, defaultAction: "Deny" } }),
  object(calico, "Tier", { name: "kube-admin", spec: { order: 1000, defaultAction: "Pass" } }),
  object(calico, "Tier", { name: "kube-baseline", spec: { order: 10_000_000, defaultAction: "Pass" } }),
];
