// What is in the datastore before anything runs: the guide's cluster, with its two pools, and the nodes as kubelets would register them.
import type { JsonRecord } from "../../../base/lib/index.ts";
import type { LabMode } from "../state.ts";
import type { LabNode } from "../world/index.ts";

/** On everything that can carry it, so that a lab knows what it may remove. */
export const labMark = { "cattail-lab": "true" } as const;

export const pools = [
  { name: "ipv4-ippool-1", cidr: "10.244.0.0/18" },
  { name: "ipv4-ippool-2", cidr: "10.244.192.0/19" },
] as const;

/** Beside them, in a lab with both families. */
export const pools6 = [
  { name: "ipv6-ippool-1", cidr: "fd00:10:244::/64" },
  { name: "ipv6-ippool-2", cidr: "fd00:10:244:1::/64" },
] as const;

/** The first pods, on the guide's nodes; the last has its address from the second pool. Of nodes that the lab does not have there are none. */
export const firstPods = [
  { name: "pingtest-1", node: 2 },
  { name: "pingtest-2", node: 2 },
  { name: "pingtest-3", node: 3 },
  { name: "pingtest-4", node: 1 },
] as const;

export const secondPoolPod = { name: "pingtest-ippool-2", node: 3 } as const;
export const poolsAnnotation = "cni.projectcalico.org/ipv4pools";
export const poolsAnnotation6 = "cni.projectcalico.org/ipv6pools";

export function namespaceObject(name: string): JsonRecord {
  const labels = { "kubernetes.io/metadata.name": name };
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
}

/** Without Kubernetes the plugin makes a profile of the network's name, by which pods of the network alone are let in; here all are, as by a namespace's. */
export const openProfile: JsonRecord = {
  apiVersion: "projectcalico.org/v3",
  kind: "Profile",
  metadata: { name: "k8s-pod-network", labels: labMark },
  spec: { ingress: [{ action: "Allow" }], egress: [{ action: "Allow" }] },
};

export function nodeObject({ name, address, address6 }: LabNode): JsonRecord {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { ...labMark, "kubernetes.io/hostname": name, "kubernetes.io/os": "linux" } },
    spec: {},
    status: {
      addresses: [
        { type: "InternalIP", address },
        ...(address6 === undefined ? [] : [{ type: "InternalIP", address: address6 }]),
        { type: "Hostname", address: name },
      ],
    },
  };
}

export function poolObject(pool: { name: string; cidr: string }, mode: LabMode, disabled: boolean): JsonRecord {
  return {
    apiVersion: "projectcalico.org/v3",
    kind: "IPPool",
    metadata: { name: pool.name, labels: labMark },
    spec: {
      cidr: pool.cidr,
      blockSize: pool.cidr.includes(":") ? 122 : 26,
      ipipMode: "Never",
      vxlanMode: mode === "vxlan" ? "Always" : "Never",
      natOutgoing: true,
      disabled,
      nodeSelector: "all()",
    },
  };
}
