// What Calico's words mean, for who meets them for the first time; and what a key is called by people.
const kindWords: { readonly [kind: string]: string } = {
  WorkloadEndpoint: "pods' network interfaces",
  HostEndpoint: "nodes' own interfaces",
  HostConfig: "settings of one node",
  GlobalConfig: "settings of all nodes",
  Node: "nodes",
  NetworkPolicy: "Calico policies",
  GlobalNetworkPolicy: "cluster-wide policies",
  KubernetesNetworkPolicy: "Kubernetes policies",
  KubernetesClusterNetworkPolicy: "cluster-wide Kubernetes policies",
  Profile: "namespaces and service accounts",
  ProfileLabels: "labels pods inherit",
  ProfileRules: "rules pods fall back to",
  NetworkSet: "named sets of addresses",
  Tier: "groups of policies",
  IpPool: "address pools",
  Block: "address blocks in use",
  BlockAffinity: "address blocks of nodes",
  KubernetesService: "services",
  KubernetesEndpointSlice: "addresses behind services",
  BGPConfiguration: "routing defaults",
  BGPPeer: "routers to talk to",
  Ready: "says that the datastore is set up",
};

const syncerWords: { readonly [syncer: string]: string } = {
  felix: "policies and endpoints, for every node's Felix",
  bgp: "routes, for every node's BIRD",
  "tunnel-ip-allocation": "addresses of tunnels",
  "node-status": "requests to report BGP status",
};

export function explainKind(kind: string): string {
  return kindWords[kind] ?? (kind.startsWith("Staged") ? "policies on trial: watched, not enforced" : "");
}

export function explainSyncer(syncer: string): string {
  return syncerWords[syncer] ?? "";
}

/** /calico/v1/host/node-1/workload/k8s/shop%2fweb-0/endpoint/eth0 → shop/web-0 on node-1 */
export function nameOfKey(path: string): string {
  const parts = path.split("/").map(unescapeName);
  if (parts[3] === "host" && parts[5] === "workload") return `${parts[7]} on ${parts[4]}`;
  if (parts[3] === "host" && parts[5] === "config") return `${parts.slice(6).join("/")} of ${parts[4]}`;
  if (parts[3] === "host") return parts[4] ?? path;
  if (parts[3] === "policy" && (parts[4] === "tier" || parts[4] === "profile")) return parts[5] ?? path;
  if (parts[3] === "policy") return [parts[5], parts[6]].filter((part) => part !== "").join("/");
  if (parts[2] === "resources") return parts.slice(6).join("/");
  return parts.at(-1) ?? path;
}

/** shop/web-0 */
export function podOfKey(path: string): string {
  return unescapeName(path.split("/")[7] ?? path);
}

export function nodeOfKey(path: string): string {
  return unescapeName(path.split("/")[4] ?? "");
}

function unescapeName(text: string): string {
  return text.replaceAll("%2f", "/").replaceAll("%25", "%");
}
