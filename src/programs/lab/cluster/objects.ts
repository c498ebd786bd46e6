// What is in the datastore before anything runs: the guide's cluster, with its two pools, and the nodes as kubelets would register them.
import type { JsonRecord } from "../../../base/lib/index.ts";
import type { LabMode } from "../state.ts";
import type { LabNode } from "../world/index.ts";

export const pools = [
  { name: "ipv4-ippool-1", cidr: "10.244.0.0/18" },
  { name: "ipv4-ippool-2", cidr: "10.244.192.0/19" },
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

export function namespaceObject(name: string): JsonRecord {
  const labels = { "kubernetes.io/metadata.name": name };
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
}

export function nodeObject({ name, address }: LabNode): JsonRecord {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux" } },
    spec: {},
    status: {
      addresses: [
        { type: "InternalIP", address },
        { type: "Hostname", address: name },
      ],
    },
  };
}

export function poolObject(pool: { name: string; cidr: string }, mode: LabMode, disabled: boolean): JsonRecord {
  return {
    apiVersion: "projectcalico.org/v3",
    kind: "IPPool",
    metadata: { name: pool.name },
    spec: {
      cidr: pool.cidr,
      blockSize: 26,
      ipipMode: "Never",
      vxlanMode: mode === "vxlan" ? "Always" : "Never",
      natOutgoing: true,
      disabled,
      nodeSelector: "all()",
    },
  };
}
