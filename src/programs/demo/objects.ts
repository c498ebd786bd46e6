// The objects of the pretend cluster, shaped like those a real API server would hold: a small shop with a handful of
// teams. Pure: the same arguments give the same objects.

export type Team = { readonly namespace: string; readonly apps: readonly string[] };

export const teams: readonly Team[] = [
  { namespace: "shop", apps: ["web", "cart", "checkout"] },
  { namespace: "payments", apps: ["api", "ledger"] },
  { namespace: "search", apps: ["query", "indexer"] },
  { namespace: "monitoring", apps: ["prometheus", "grafana"] },
];

/** Of the first, index 0, node-001. */
export function nodeName(index: number): string {
  return `node-${String(index + 1).padStart(3, "0")}`;
}

/** Each node has a /24 of the pool for its pods; 253 of them fit. */
function podAddress(nodeIndex: number, slot: number): string {
  return `10.${64 + Math.floor(nodeIndex / 256)}.${nodeIndex % 256}.${slot + 2}`;
}

/** Of a node's end of the VXLAN tunnel. */
export function tunnelAddress(nodeIndex: number): string {
  return podAddress(nodeIndex, -1);
}

export const podsPerNode = 250;

/**
 * A node's block with the addresses of its pods. They stay as they are when a pod is replaced: the next one has its address.
 */
export function block(nodeIndex: number, pods: readonly { namespace: string; name: string; slot: number }[]): object {
  const size = 256;
  const node = nodeName(nodeIndex);
  const allocations: (number | null)[] = Array.from({ length: size }, () => null);
  const attributes: object[] = [
    { handle_id: `vxlan-tunnel-addr-${node}`, secondary: { type: "vxlanTunnelAddress", node } },
  ];
  allocations[1] = 0;
  for (const { namespace: its, name, slot } of pods) {
    allocations[slot + 2] = attributes.length;
    attributes.push({ handle_id: `k8s-pod-network.${name}`, secondary: { namespace: its, pod: name, node } });
  }
  const unallocated = [...allocations.keys()].filter((at) => allocations[at] === null);
  return calico("IPAMBlock", blockCidr(nodeIndex).replaceAll(/[./]/g, "-"), {
    cidr: blockCidr(nodeIndex),
    affinity: `host:${node}`,
    strictAffinity: false,
    allocations,
    unallocated,
    attributes,
    deleted: false,
  });
}

export function node(index: number): object {
  const name = nodeName(index);
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      uid: uid("node", index),
      labels: { "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": `zone-${"abc"[index % 3]}` },
      annotations: {
        "projectcalico.org/IPv4Address": `${nodeAddress(index)}/16`,
        "projectcalico.org/IPv4VXLANTunnelAddr": tunnelAddress(index),
      },
    },
    spec: { podCIDR: blockCidr(index), podCIDRs: [blockCidr(index)] },
    status: { addresses: [{ type: "InternalIP", address: nodeAddress(index) }] },
  };
}

export function namespace(team: Team, index: number): object {
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: team.namespace,
      uid: uid("namespace", index),
      labels: { "kubernetes.io/metadata.name": team.namespace, team: team.namespace },
    },
    spec: {},
    status: { phase: "Active" },
  };
}

export function serviceAccount(team: Team, app: string, index: number): object {
  return {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: app, namespace: team.namespace, uid: uid("serviceaccount", index), labels: { app } },
  };
}

export type PodPlace = { readonly serial: number; readonly nodeIndex: number; readonly slot: number };

export function pod(team: Team, app: string, version: number, place: PodPlace): object {
  const address = podAddress(place.nodeIndex, place.slot);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${app}-${version}-${place.serial.toString(36).padStart(5, "0")}`,
      namespace: team.namespace,
      generateName: `${app}-${version}-`,
      uid: uid("pod", place.serial),
      labels: { app, version: `v${version}` },
    },
    spec: {
      nodeName: nodeName(place.nodeIndex),
      serviceAccountName: app,
      containers: [
        { name: app, image: `${app}:v${version}`, ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }] },
      ],
    },
    status: { phase: "Running", podIP: address, podIPs: [{ ip: address }] },
  };
}

export function service(team: Team, app: string, index: number): object {
  const clusterIP = `10.96.${Math.floor(index / 250)}.${(index % 250) + 1}`;
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: app, namespace: team.namespace, uid: uid("service", index) },
    spec: {
      selector: { app },
      clusterIP,
      clusterIPs: [clusterIP],
      type: "ClusterIP",
      ports: [{ name: "http", protocol: "TCP", port: 80, targetPort: 8080 }],
    },
    status: { loadBalancer: {} },
  };
}

export function calico(kind: string, name: string, spec: object, namespaceName?: string): object {
  return {
    apiVersion: "crd.projectcalico.org/v1",
    kind,
    metadata: {
      name,
      ...(namespaceName === undefined ? {} : { namespace: namespaceName }),
      uid: uid(kind, hash(name)),
    },
    spec,
  };
}

export function networkPolicy(team: Team, name: string, spec: object): object {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name, namespace: team.namespace, uid: uid("networkpolicy", hash(team.namespace + name)) },
    spec,
  };
}

export function blockCidr(nodeIndex: number): string {
  return `10.${64 + Math.floor(nodeIndex / 256)}.${nodeIndex % 256}.0/24`;
}

function nodeAddress(index: number): string {
  return `172.20.${Math.floor(index / 250)}.${(index % 250) + 1}`;
}

function uid(kind: string, index: number): string {
  const tail = (hash(kind) * 4096 + index).toString(16).padStart(12, "0").slice(-12);
  return `${hash(kind).toString(16).padStart(8, "0")}-0000-4000-8000-${tail}`;
}

function hash(text: string): number {
  let value = 0;
  for (const character of text) value = (value * 31 + (character.codePointAt(0) ?? 0)) % 0x7fffffff;
  return value;
}
