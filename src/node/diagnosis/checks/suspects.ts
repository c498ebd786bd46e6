// Which rules of others can have dropped a probe that had no answer: those at the places that its packets pass, whose conditions hold for them. The
// answer goes the same way back. In a tunnel two packets pass: the pod's, and the one around it.
import type { ClusterFacts, Hook, HostFacts, Probe, RuleCondition, SuspectRule } from "../facts.ts";
import { bare, isIn, nodeNamed, poolOf, wayBetween } from "../networks.ts";

/** Undefined: not known, so that every condition may hold. */
type Packet = {
  readonly source: string | undefined;
  readonly destination: string | undefined;
  readonly protocol: string;
  readonly ports?: { readonly source: number; readonly destination: number };
  readonly hooks: readonly Hook[];
};

const vxlanPort = 4789;
const bgpPort = 179;

export type Suspected = { readonly host: HostFacts; readonly rule: SuspectRule; readonly isOuter: boolean };

/** The first of them; `hosts` are those that were looked at. */
export function suspectOf(probe: Probe, hosts: readonly HostFacts[], cluster: ClusterFacts): Suspected | undefined {
  for (const host of hosts.filter(({ node }) => node === probe.fromNode || node === probe.node)) {
    const { inner, outer } = packetsOf(probe, host, cluster);
    for (const rule of host.suspects ?? []) {
      if (inner.some((packet) => drops(rule, packet, host, cluster))) return { host, rule, isOuter: false };
      if (outer.some((packet) => drops(rule, packet, host, cluster))) return { host, rule, isOuter: true };
    }
  }
  return undefined;
}

export function suspectText({ table, chain, rule }: SuspectRule): string {
  return `chain ${chain} of table ${table}: ${rule}`;
}

export function suspectEvidence({ rule }: Pick<Suspected, "rule">): string[] {
  const { grew, command } = rule;
  return [command, ...(grew === undefined ? [] : [`it has dropped ${grew} packets while pings were sent`])];
}

const leaving = ["output", "postrouting"] as const;
const arriving = ["ingress", "prerouting", "input"] as const;
const passing = ["ingress", "prerouting", "forward", "postrouting"] as const;

function packetsOf(probe: Probe, host: HostFacts, cluster: ClusterFacts): { inner: Packet[]; outer: Packet[] } {
  const { kind, from, fromNode, node, address } = probe;
  const isSender = fromNode === host.node;
  const isNodes = kind === "node" || kind === "large" || kind === "bgp";
  // A host's own packets leave it, and the answers arrive; those of pods pass.
  const isOwn = isNodes || (kind === "pod" && isSender);
  const ends = isSender ? { there: leaving, back: arriving } : { there: arriving, back: leaving };
  const hooks = isOwn ? ends : { there: passing, back: passing };
  const packet = { source: addressOf(from, cluster), destination: address };
  const inner =
    kind === "bgp"
      ? { ...packet, protocol: "tcp", ports: { source: 0, destination: bgpPort }, hooks: hooks.there }
      : { ...packet, protocol: cluster.family === 4 ? "icmp" : "icmpv6", hooks: hooks.there };
  const [one, other] = [nodeNamed(fromNode, cluster), nodeNamed(node, cluster)];
  const pool = poolOf(address, cluster.pools);
  const isAcross = !isNodes && one !== undefined && other !== undefined && one.name !== other.name;
  const way = isAcross && pool !== undefined ? wayBetween(one, other, pool) : "plain";
  const [source, destination] = [bare(one?.address ?? ""), bare(other?.address ?? "")];
  const around =
    way === "ipip" ? { protocol: "ipip" } : { protocol: "udp", ports: { source: 0, destination: vxlanPort } };
  return {
    inner: [inner, { ...back(inner), hooks: hooks.back }],
    // Each direction has the same destination port.
    outer:
      way !== "plain"
        ? [
            { ...around, source, destination, hooks: ends.there },
            { ...around, source: destination, destination: source, hooks: ends.back },
          ]
        : [],
  };
}

function back(packet: Packet): Packet {
  const { source, destination, ports } = packet;
  const swapped = { ...packet, source: destination, destination: source };
  return ports === undefined
    ? swapped
    : { ...swapped, ports: { source: ports.destination, destination: ports.source } };
}

function addressOf(name: string, { nodes, pods }: ClusterFacts): string | undefined {
  const node = nodes.find((each) => each.name === name);
  // By its tunnel's address, or its own.
  if (node !== undefined) return node.tunnelAddress === undefined ? bare(node.address ?? "") : undefined;
  return pods.find((each) => `${each.namespace}/${each.name}` === name)?.address;
}

function drops(rule: SuspectRule, packet: Packet, host: HostFacts, cluster: ClusterFacts): boolean {
  if (rule.hook !== undefined && !packet.hooks.includes(rule.hook)) return false;
  const may = (condition: RuleCondition, isUnknown: boolean) => holds(condition, packet, { host, cluster, isUnknown });
  if (!rule.conditions.every((condition) => may(condition, true))) return false;
  return !rule.unless.some((conditions) => conditions.every((condition) => may(condition, false)));
}

type Context = {
  readonly host: HostFacts;
  readonly cluster: ClusterFacts;
  /** What is said where nobody can know: a drop is suspected, and an accept is not relied on. */
  readonly isUnknown: boolean;
};

function holds(condition: RuleCondition, packet: Packet, context: Context): boolean {
  const found = matches(condition, packet, context);
  return found === undefined ? context.isUnknown : found !== condition.isNot;
}

function matches(condition: RuleCondition, packet: Packet, { host, cluster }: Context): boolean | undefined {
  switch (condition.on) {
    case "source":
    case "destination": {
      const address = packet[condition.on];
      return address === undefined ? undefined : condition.networks.some((network) => isIn(address, network));
    }
    case "protocol":
      return condition.names.includes(packet.protocol);
    case "source port":
    case "destination port": {
      const { ports } = packet;
      if (ports === undefined) return false;
      const port = condition.on === "source port" ? ports.source : ports.destination;
      return port === 0 ? undefined : condition.ports.some(([from, to]) => from <= port && port <= to);
    }
    default: {
      // By which of them it passes is not followed: those of pods, tunnels and the node's address may be it, others are not.
      const isAny = condition.names.some((name) => waysOf(host, cluster).some((way) => isNamed(way, name)));
      return isAny ? undefined : false;
    }
  }
}

function isNamed(link: string, pattern: string): boolean {
  return pattern.endsWith("*") ? link.startsWith(pattern.slice(0, -1)) : link === pattern;
}

function waysOf({ node, links, addresses }: HostFacts, cluster: ClusterFacts): string[] {
  const own = bare(nodeNamed(node, cluster)?.address ?? "");
  const uplinks = addresses.filter(({ address }) => bare(address) === own).map(({ link }) => link);
  const others = links.filter(({ name, kind }) => kind === "vxlan" || kind === "ipip" || name.startsWith("cali"));
  return [...uplinks, ...others.map(({ name }) => name)];
}
