// The namespace, where it is not one that every cluster has. Typha uses the host's network, which the pod security
// levels below "privileged" forbid; everything else about the pod would pass "restricted". Where the Service is somebody's,
// so is the namespace.
import type { InstallOptions, Manifest } from "./options.ts";

const alwaysThere = ["kube-system", "default"];

export function namespaceManifests(options: InstallOptions): Manifest[] {
  if (alwaysThere.includes(options.namespace) || options.service !== options.name) return [];
  const labels = { "pod-security.kubernetes.io/enforce": "privileged" };
  return [{ apiVersion: "v1", kind: "Namespace", metadata: { name: options.namespace, labels } }];
}
