// What Kubernetes' policies mean, written from the text of their API alone: plain, slow, and without a line of the product. Whatever else says
// something about the same objects has to agree with it.
import { BlockList, isIPv6 } from "node:net";
import type {
  ClusterNetworkPolicy,
  ClusterPeer,
  ClusterProtocol,
  ClusterRule,
  LabelSelector,
  Labels,
  NetworkPolicy,
  OracleCluster,
  OracleConnection,
  OracleEnd,
  OraclePod,
  PolicyPeer,
  PolicyPort,
} from "./objects.ts";

/** A connection stands when its source may send it and its destination may receive it. */
export function kubernetesAllows(connection: OracleConnection, cluster: OracleCluster): boolean {
  return mayPass("egress", connection, cluster) && mayPass("ingress", connection, cluster);
}

type Direction = "ingress" | "egress";

function mayPass(direction: Direction, connection: OracleConnection, cluster: OracleCluster): boolean {
  const { source, destination } = connection;
  const [subject, other] = direction === "egress" ? [source, destination] : [destination, source];
  if (subject.pod === undefined) return true;
  const about: About = { direction, pod: subject.pod, other, connection, cluster };
  const admin = clusterVerdict("Admin", about);
  if (admin !== undefined) return admin === "Accept";
  const isolating = cluster.networkPolicies.filter((policy) => isolates(policy, about));
  if (isolating.length > 0) return isolating.some((policy) => allows(policy, about));
  return clusterVerdict("Baseline", about) !== "Deny";
}

type About = {
  readonly direction: Direction;
  /** Whom policies select. */
  readonly pod: OraclePod;
  readonly other: OracleEnd;
  readonly connection: OracleConnection;
  readonly cluster: OracleCluster;
};

/** Undefined: no rule of the tier holds, or the first that does passes on. */
function clusterVerdict(tier: "Admin" | "Baseline", about: About): "Accept" | "Deny" | undefined {
  const inOrder = about.cluster.clusterPolicies
    .filter(({ spec }) => spec.tier === tier)
    .toSorted((a, b) => a.spec.priority - b.spec.priority);
  for (const policy of inOrder) {
    if (!isSubject(policy, about)) continue;
    for (const rule of policy.spec[about.direction] ?? []) {
      if (!holds(rule, about)) continue;
      return rule.action === "Pass" ? undefined : rule.action;
    }
  }
  return undefined;
}

function isSubject({ spec: { subject } }: ClusterNetworkPolicy, { pod, cluster }: About): boolean {
  if (subject.namespaces !== undefined) return isSelected(subject.namespaces, labelsOfNamespace(pod, cluster));
  return subject.pods !== undefined && isPodOf(subject.pods, pod, cluster);
}

function isPodOf(
  {
    namespaceSelector,
    podSelector,
  }: { readonly namespaceSelector: LabelSelector; readonly podSelector: LabelSelector },
  pod: OraclePod,
  cluster: OracleCluster,
): boolean {
  return isSelected(namespaceSelector, labelsOfNamespace(pod, cluster)) && isSelected(podSelector, pod.labels);
}

function holds(rule: ClusterRule, about: About): boolean {
  const peers = (about.direction === "ingress" ? rule.from : rule.to) ?? [];
  const protocols = rule.protocols ?? [];
  return (
    peers.some((peer) => isClusterPeer(peer, about)) &&
    (protocols.length === 0 || protocols.some((one) => isClusterProtocol(one, about.connection)))
  );
}

function isClusterPeer({ namespaces, pods, networks = [] }: ClusterPeer, { other, cluster }: About): boolean {
  if (networks.length > 0) return networks.some((net) => isIn(net, other.address));
  if (other.pod === undefined) return false;
  if (namespaces !== undefined) return isSelected(namespaces, labelsOfNamespace(other.pod, cluster));
  return pods !== undefined && isPodOf(pods, other.pod, cluster);
}

function isClusterProtocol(given: ClusterProtocol, { protocol, port, destination }: OracleConnection): boolean {
  if (given.destinationNamedPort !== undefined)
    return hasNamedPort(destination.pod, given.destinationNamedPort, protocol, port);
  const wanted = { TCP: given.tcp, UDP: given.udp, SCTP: given.sctp, ICMP: undefined }[protocol];
  if (wanted === undefined) return false;
  const { number, range } = wanted.destinationPort ?? {};
  if (number !== undefined) return number === port;
  return range === undefined || (range.start <= port && port <= range.end);
}

/** Whether the policy says what may pass in this direction; a pod that none isolates is open. */
function isolates({ namespace, spec }: NetworkPolicy, { direction, pod }: About): boolean {
  if (namespace !== pod.namespace || !isSelected(spec.podSelector, pod.labels)) return false;
  // The API server fills it in: an empty list of egress rules is as good as none.
  const types = spec.policyTypes ?? ((spec.egress ?? []).length === 0 ? ["Ingress"] : ["Ingress", "Egress"]);
  return types.includes(direction === "ingress" ? "Ingress" : "Egress");
}

function allows({ namespace, spec }: NetworkPolicy, about: About): boolean {
  const rules =
    about.direction === "ingress"
      ? (spec.ingress ?? []).map(({ from, ports }) => ({ peers: from ?? [], ports: ports ?? [] }))
      : (spec.egress ?? []).map(({ to, ports }) => ({ peers: to ?? [], ports: ports ?? [] }));
  return rules.some(
    ({ peers, ports }) =>
      (peers.length === 0 || peers.some((peer) => isPeer(peer, namespace, about))) &&
      (ports.length === 0 || ports.some((port) => isPort(port, about.connection))),
  );
}

function isPeer({ ipBlock, podSelector, namespaceSelector }: PolicyPeer, namespace: string, about: About): boolean {
  const { pod, address } = about.other;
  if (ipBlock !== undefined)
    return isIn(ipBlock.cidr, address) && !(ipBlock.except ?? []).some((net) => isIn(net, address));
  if (pod === undefined) return false;
  const isNamespace =
    namespaceSelector === undefined
      ? pod.namespace === namespace
      : isSelected(namespaceSelector, labelsOfNamespace(pod, about.cluster));
  return isNamespace && (podSelector === undefined || isSelected(podSelector, pod.labels));
}

function isPort({ protocol: wanted = "TCP", port: name, endPort }: PolicyPort, connection: OracleConnection): boolean {
  const { protocol, port, destination } = connection;
  if (wanted !== protocol) return false;
  if (name === undefined) return true;
  if (typeof name === "string") return hasNamedPort(destination.pod, name, protocol, port);
  return name <= port && port <= (endPort ?? name);
}

function hasNamedPort(pod: OraclePod | undefined, name: string, protocol: string, port: number): boolean {
  return (pod?.ports ?? []).some((one) => one.name === name && one.protocol === protocol && one.port === port);
}

function labelsOfNamespace({ namespace }: OraclePod, { namespaces }: OracleCluster): Labels {
  return namespaces[namespace] ?? {};
}

/** Everything that it asks; nothing asked, everything is selected. */
function isSelected({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Labels): boolean {
  if (!Object.entries(matchLabels).every(([name, value]) => labels[name] === value)) return false;
  return matchExpressions.every(({ key, operator, values = [] }) => {
    const value = labels[key];
    if (operator === "Exists") return value !== undefined;
    if (operator === "DoesNotExist") return value === undefined;
    if (operator === "In") return value !== undefined && values.includes(value);
    return value === undefined || !values.includes(value);
  });
}

function isIn(net: string, address: string): boolean {
  const [first = "", length = ""] = net.split("/");
  if (isIPv6(first) !== isIPv6(address)) return false;
  const family = isIPv6(first) ? "ipv6" : "ipv4";
  const list = new BlockList();
  list.addSubnet(first, Number(length), family);
  return list.check(address, family);
}
