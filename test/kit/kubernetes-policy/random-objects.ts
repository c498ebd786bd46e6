// Random policies of Kubernetes about the pods of the lab's world: few labels, ports and networks, so that they meet each other.
import type { PodOfWorld } from "../policy-world.ts";
import type { Random } from "../random.ts";
import type {
  ClusterNetworkPolicy,
  ClusterPeer,
  ClusterProtocol,
  ClusterRule,
  LabelSelector,
  Labels,
  NetworkPolicy,
  OracleCluster,
  PolicyPeer,
  PolicyPort,
} from "./objects.ts";

const namespaces = ["red", "blue", "green"];
const names = ["app", "tier"];
const values = ["a", "b"];
const nets4 = [
  "0.0.0.0/0",
  "10.65.0.0/16",
  "10.65.0.0/30",
  "10.65.0.4/31",
  "10.65.1.2/32",
  "192.0.2.0/24",
  "192.0.2.11/32",
];
const nets6 = ["::/0", "fd65::/64", "fd65::2/128", "2001:db8::/64", "2001:db8::11/128"];
const portNames = ["http", "dns"];
const protocols = ["TCP", "UDP", "SCTP"] as const;

export function randomKubernetesCluster(random: Random, pods: readonly PodOfWorld[]): OracleCluster {
  return {
    namespaces: Object.fromEntries(
      namespaces.map((name) => [name, { ...randomLabels(random), "kubernetes.io/metadata.name": name }]),
    ),
    pods: pods.map(({ namespace, name, ips }) => ({
      ...{ namespace, name, ips, labels: randomLabels(random) },
      ports: random.isOneIn(3)
        ? []
        : [
            { name: "http", protocol: "TCP", port: random.pick([80, 8080]) },
            { name: "dns", protocol: random.pick(["UDP", "TCP", "SCTP"]), port: random.pick([53, 8080]) },
          ],
    })),
    networkPolicies: several(random, 5, (number) => randomNetworkPolicy(random, number)),
    clusterPolicies: random.isOneIn(2) ? several(random, 4, (number) => randomClusterPolicy(random, number)) : [],
  };
}

function randomNetworkPolicy(random: Random, number: number): NetworkPolicy {
  const types = random.pick([[], ["Ingress"], ["Egress"], ["Ingress", "Egress"]] as const);
  const rules = () =>
    several(random, 2, () => ({ peers: several(random, 2, () => randomPeer(random)), ports: randomPorts(random) }));
  const ingress = random.isOneIn(5)
    ? {}
    : { ingress: rules().map(({ peers, ports }) => ({ ...listed("from", peers), ...listed("ports", ports) })) };
  const egress = random.isOneIn(3)
    ? {}
    : { egress: rules().map(({ peers, ports }) => ({ ...listed("to", peers), ...listed("ports", ports) })) };
  return {
    namespace: random.pick(namespaces),
    name: `p${number}`,
    spec: {
      podSelector: randomSelector(random),
      ...listed("policyTypes", types),
      ...ingress,
      ...egress,
    },
  };
}

/** Absent and empty mean the same. */
function listed<Name extends string, T>(name: Name, list: readonly T[]): { readonly [N in Name]?: readonly T[] } {
  return list.length === 0 ? {} : ({ [name]: list } as { readonly [N in Name]: readonly T[] }); // the key is the name
}

function randomPeer(random: Random): PolicyPeer {
  const form = random.below(5);
  if (form === 0) return { podSelector: randomSelector(random) };
  if (form === 1) return { namespaceSelector: randomSelector(random, true) };
  if (form === 2) return { podSelector: randomSelector(random), namespaceSelector: randomSelector(random, true) };
  const cidr = random.pick([...nets4, ...nets4, ...nets6]);
  const within = cidr.includes(":") ? nets6.slice(1) : nets4.slice(1);
  return {
    ipBlock: {
      cidr,
      ...listed(
        "except",
        several(random, 2, () => random.pick(within)),
      ),
    },
  };
}

function randomPorts(random: Random): readonly PolicyPort[] {
  return several(random, 2, () => {
    const protocol = random.isOneIn(3) ? {} : { protocol: random.pick(protocols) };
    const form = random.below(6);
    if (form === 0) return protocol;
    if (form === 1) return { ...protocol, port: random.pick(portNames) };
    if (form === 2) return { ...protocol, port: random.pick([53, 80]), endPort: random.pick([80, 443, 8080]) };
    return { ...protocol, port: random.pick([53, 80, 443, 8080]) };
  });
}

function randomClusterPolicy(random: Random, number: number): ClusterNetworkPolicy {
  const rules = (to: "from" | "to"): readonly ClusterRule[] => several(random, 3, () => randomClusterRule(random, to));
  return {
    name: `c${number}`,
    spec: {
      tier: random.pick(["Admin", "Baseline"]),
      // What equal priorities mean, the API leaves open.
      priority: random.below(10) * 10 + number,
      subject: random.isOneIn(2) ? { namespaces: randomSelector(random, true) } : { pods: randomPods(random) },
      ...listed("ingress", rules("from")),
      ...listed("egress", rules("to")),
    },
  };
}

function randomClusterRule(random: Random, to: "from" | "to"): ClusterRule {
  const peers = [randomClusterPeer(random, to), ...several(random, 1, () => randomClusterPeer(random, to))];
  return {
    action: random.pick(["Accept", "Deny", "Pass"]),
    [to]: peers,
    ...listed(
      "protocols",
      several(random, 2, () => randomClusterProtocol(random)),
    ),
  };
}

function randomClusterPeer(random: Random, to: "from" | "to"): ClusterPeer {
  const form = random.below(to === "to" ? 3 : 2);
  if (form === 0) return { namespaces: randomSelector(random, true) };
  if (form === 1) return { pods: randomPods(random) };
  return { networks: [random.pick([...nets4, ...nets6]), ...several(random, 1, () => random.pick(nets4))] };
}

function randomPods(random: Random) {
  return { namespaceSelector: randomSelector(random, true), podSelector: randomSelector(random) };
}

function randomClusterProtocol(random: Random): ClusterProtocol {
  if (random.isOneIn(4)) return { destinationNamedPort: random.pick(portNames) };
  const form = random.below(4);
  const destination =
    form === 0
      ? {}
      : form === 1
        ? { destinationPort: { range: { start: random.pick([53, 80]), end: random.pick([80, 443, 8080]) } } }
        : { destinationPort: { number: random.pick([53, 80, 8080]) } };
  return random.pick<ClusterProtocol>([{ tcp: destination }, { udp: destination }, { sctp: destination }]);
}

function randomSelector(random: Random, isOfNamespace = false): LabelSelector {
  const form = random.below(7);
  if (form === 0) return {};
  if (form <= 2) return { matchLabels: { [random.pick(names)]: random.pick(values) } };
  if (form === 3 && isOfNamespace) return { matchLabels: { "kubernetes.io/metadata.name": random.pick(namespaces) } };
  const expression = () => {
    const operator = random.pick(["In", "NotIn", "Exists", "DoesNotExist"] as const);
    const isList = operator === "In" || operator === "NotIn";
    return {
      key: random.pick([...names, "none"]),
      operator,
      ...(isList ? { values: random.pick([["a"], ["b"], ["a", "b"], ["c"]]) } : {}),
    };
  };
  return {
    matchExpressions: [expression(), ...several(random, 1, expression)],
    ...(random.isOneIn(3) ? { matchLabels: { [random.pick(names)]: random.pick(values) } } : {}),
  };
}

function randomLabels(random: Random): Labels {
  return Object.fromEntries(names.flatMap((name) => (random.isOneIn(3) ? [] : [[name, random.pick(values)]])));
}

/** From none to `most`. */
function several<T>(random: Random, most: number, make: (number: number) => T): readonly T[] {
  return Array.from({ length: random.below(most + 1) }, (_, number) => make(number));
}
