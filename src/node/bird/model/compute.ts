// Everything that is known, and what BIRD shall do because of it. Pure: the same objects always give the same intent, in the same order.
import { createHash } from "node:crypto";
import { type AddressRange, bitsOf, parseIp, parseRange, rangeText } from "../../../base/lib/index.ts";
import type { BgpConfigurationSpec } from "../../../calico/kinds/index.ts";
import { BgpCluster } from "./cluster.ts";
import { isInterfacePattern, parseCommunity } from "./filters.ts";
import type { BgpIntent, BgpProblem, Community, FamilyIntent, KernelPool } from "./intent.ts";
import type { BgpNode, BgpObjects, BgpPool } from "./objects.ts";
import { type LocalWorkload, type Peering, peeringsOf, type SecretRef } from "./peerings.ts";
import {
  announcedRanges,
  type ServiceFacts,
  type ServiceRanges,
  type SliceFacts,
  serviceAddresses,
  serviceRanges,
} from "./services.ts";
import { type SecretAnswer, sessionsOf } from "./sessions.ts";

export type BgpSettings = {
  /** CALICO_ROUTER_ID: an address, or "hash". */
  readonly routerId: string | undefined;
  /** CALICO_ADVERTISE_CLUSTER_IPS, where it is set. */
  readonly advertisedClusterIps: readonly string[] | undefined;
  /** CALICO_K8S_NODE_REF, or the node's name: as endpoint slices call it. */
  readonly kubernetesNode: string;
  /** USE_POD_CIDR: own blocks are the node's pod CIDRs. */
  readonly usesPodCidr: boolean;
  readonly agentProtocol: number;
  /** This BIRD can put a route into an IPIP tunnel: Calico's own fork of 1.6. */
  readonly canTunnel: boolean;
};

export type BgpFacts = {
  readonly node: string;
  readonly objects: BgpObjects;
  /** Lists, because they are gone through once for each family. */
  readonly services: readonly ServiceFacts[];
  readonly slices: readonly SliceFacts[];
  readonly workloads: readonly LocalWorkload[];
  readonly settings: BgpSettings;
  secret(reference: SecretRef): SecretAnswer;
};

export type Computed = {
  /** Undefined: there is nothing to write, and the problems say why. */
  readonly intent: BgpIntent | undefined;
  readonly problems: readonly BgpProblem[];
};

const excludeLabel = "node.kubernetes.io/exclude-from-external-load-balancers";

export function computeBgp(facts: BgpFacts): Computed {
  const { objects, node: name, settings } = facts;
  const problems = new Map<string, BgpProblem>();
  const problem = (each: BgpProblem) => void problems.set(`${each.code} ${each.about} ${each.says}`, each);
  for (const [path, says] of objects.problems)
    problem({ code: "BGP_OBJECT", about: path, says: `${says}; it counts as missing` });
  for (const other of objects.configurations.keys()) {
    if (other === "default" || other.startsWith("node.")) continue;
    const says = "only default and node.NAME count; it is ignored";
    problem({ code: "BGP_CONFIGURATION", about: `BGPConfiguration ${other}`, says });
  }
  const done = (intent: BgpIntent | undefined): Computed => ({ intent, problems: [...problems.values()] });
  const self = objects.nodes.get(name);
  if (self === undefined) {
    problem({
      code: "BGP_NODE_MISSING",
      about: `Node ${name}`,
      says: "there is no such node; BIRD's configuration stays as it is",
    });
    return done(undefined);
  }
  const cluster = new BgpCluster(objects);
  const routerId = routerIdOf(self, settings.routerId);
  if (routerId === undefined) {
    const says =
      settings.routerId === undefined
        ? "it has no IPv4 address to be its router id; set CALICO_ROUTER_ID to hash"
        : `CALICO_ROUTER_ID is ${JSON.stringify(settings.routerId)}; it must be an IPv4 address, or hash`;
    problem({ code: "BGP_ROUTER_ID", about: `Node ${name}`, says });
    return done(undefined);
  }
  const ranges = serviceRanges(cluster.global, settings.advertisedClusterIps);
  const peerings = peeringsOf({ cluster, self, workloads: facts.workloads, problem });
  const common = { facts, cluster, self, peerings, ranges, problem };
  return done({
    node: name,
    routerId,
    asNumber: cluster.asNumberOf(self),
    listenPort: cluster.listenPortOf(name),
    logLevel: logLevelOf(cluster.ofNode(name).logSeverityScreen || cluster.global.logSeverityScreen),
    ignoredInterfaces: (cluster.global.ignoredInterfaces ?? []).filter(
      (each) => each !== "*" && isInterfacePattern(each),
    ),
    agentProtocol: settings.agentProtocol,
    families: [familyIntent(4, common), familyIntent(6, common)],
  });
}

/** Undefined: there is none. BGP's router id has four bytes, also where only IPv6 is spoken. */
function routerIdOf(self: BgpNode, setting: string | undefined): string | undefined {
  if (setting === undefined) return self.address[4];
  if (setting !== "hash") return parseIp(setting)?.version === 4 && setting !== "0.0.0.0" ? setting : undefined;
  const [first = 0, ...rest] = createHash("sha256").update(self.name).digest().subarray(0, 4);
  return [first > 223 ? first - 32 : first, ...rest].join(".");
}

function logLevelOf(severity: string | undefined): BgpIntent["logLevel"] {
  const level = (severity ?? "info").toLowerCase();
  return level === "debug" || level === "info" ? level : "none";
}

type Common = {
  readonly facts: BgpFacts;
  readonly cluster: BgpCluster;
  readonly self: BgpNode;
  readonly peerings: readonly Peering[];
  readonly ranges: ServiceRanges;
  problem(problem: BgpProblem): void;
};

function familyIntent(family: 4 | 6, common: Common): FamilyIntent {
  const { facts, cluster, self, peerings, ranges, problem } = common;
  const { objects, settings } = facts;
  const own = ownBlocks(family, self, facts);
  const isExcluded = self.labels[excludeLabel] === "true";
  const where = { ranges, node: settings.kubernetesNode };
  const services = isExcluded
    ? []
    : [...announcedRanges(ranges), ...serviceAddresses(facts.services, facts.slices, where)];
  const serviceRoutes = textsOf(services, family);
  const pools = [...objects.pools.values()]
    .filter((pool) => pool.family === family)
    .sort((a, b) => (a.cidr < b.cidr ? -1 : 1));
  const programs = programsOf(cluster.global);
  const isReflector = self.clusterId !== undefined;
  const { sessions, filters } = sessionsOf({ cluster, self, family, peerings, secret: facts.secret, problem });
  const priority = family === 4 ? cluster.global.ipv4NormalRoutePriority : cluster.global.ipv6NormalRoutePriority;
  return {
    family,
    address: self.address[family],
    isBound: cluster.global.bindMode === "NodeIP",
    normalPriority: Number(priority ?? 1024),
    blackholes: unique([...own.all.filter((cidr) => !cidr.endsWith(`/${bitsOf(family)}`)), ...serviceRoutes]),
    hostRoutes: hostRoutes(family, self, peerings),
    ownBlocks: own.confirmed,
    communities: communitiesOf(family, cluster, self.name, problem),
    heldBackPools: pools.filter(({ isExported }) => !isExported).map(({ cidr }) => cidr),
    exportedPools: pools.filter(({ isExported }) => isExported).map(({ cidr }) => cidr),
    serviceRoutes,
    reflectedRanges: isReflector ? textsOf([...ranges.loadBalancer, ...ranges.external], family) : [],
    unprogrammedRanges: textsOf(announcedRanges(ranges), family),
    kernelPools: pools.map((pool) => kernelPool(pool, { programs, self, canTunnel: settings.canTunnel, problem })),
    wireguardHops: wireguardHops(family, self, cluster),
    tunnelInterfaces: ["*.cali", "*.calico", ...(programs.ipip && settings.canTunnel ? [] : ["tunl0"])],
    filters,
    sessions,
  };
}

/** Blackholes are made of all of them; those that are about to go are announced no more. */
function ownBlocks(
  family: 4 | 6,
  self: BgpNode,
  { objects, settings }: BgpFacts,
): { all: readonly string[]; confirmed: readonly string[] } {
  if (settings.usesPodCidr) {
    const cidrs = textsOf(
      self.podCidrs.flatMap((cidr) => parseRange(cidr) ?? []),
      family,
    );
    return { all: cidrs, confirmed: cidrs };
  }
  const blocks = [...(objects.blocks.get(self.name)?.values() ?? [])].filter(
    (each) => each.family === family && each.state !== "pending",
  );
  return {
    all: unique(blocks.map(({ cidr }) => cidr)),
    confirmed: unique(blocks.filter(({ state }) => state === "confirmed" || state === "").map(({ cidr }) => cidr)),
  };
}

function hostRoutes(family: 4 | 6, self: BgpNode, peerings: readonly Peering[]): FamilyIntent["hostRoutes"] {
  const found = new Map<string, string>();
  for (const peering of peerings) {
    if (peering.family !== family || peering.reachableBy === undefined || peering.address === self.address[family])
      continue;
    const to = `${peering.address}/${bitsOf(family)}`;
    if (!found.has(to)) found.set(to, peering.reachableBy);
  }
  return [...found].map(([to, via]) => ({ to, via })).sort((a, b) => (a.to < b.to ? -1 : 1));
}

/** The node's list takes the place of the cluster's as a whole. */
function communitiesOf(
  family: 4 | 6,
  cluster: BgpCluster,
  node: string,
  problem: Common["problem"],
): FamilyIntent["communities"] {
  const own = cluster.ofNode(node);
  const isOwn = own.prefixAdvertisements !== undefined;
  const { prefixAdvertisements = [], communities: defined = [] } = isOwn ? own : cluster.global;
  return prefixAdvertisements.flatMap(({ cidr = "", communities = [] }) => {
    const range = parseRange(cidr);
    if (range?.family !== family) return [];
    const values = new Map<string, Community>();
    for (const each of communities) {
      const text = parseCommunity(each) === undefined ? defined.find(({ name }) => name === each)?.value : each;
      const value = parseCommunity(text ?? "");
      if (value !== undefined) values.set(value.join(":"), value);
      else {
        const about = `BGPConfiguration ${isOwn ? `node.${node}` : "default"}`;
        const says = `${JSON.stringify(each)} is no community, and none is defined there under that name; it is left out`;
        problem({ code: "BGP_COMMUNITY", about, says });
      }
    }
    return values.size === 0 ? [] : [{ cidr: rangeText(range), values: [...values.values()] }];
  });
}

/** Which pools' routes are BIRD's to put into the kernel; the others are the agent's. */
function programsOf({ programClusterRoutes }: BgpConfigurationSpec): { ipip: boolean; plain: boolean } {
  switch (programClusterRoutes) {
    case "Disabled":
      return { ipip: false, plain: false };
    case "Enabled":
      return { ipip: true, plain: true };
    case "EnabledIPIPOnly":
      return { ipip: true, plain: false };
    default:
      return { ipip: false, plain: true };
  }
}

type KernelOptions = {
  readonly programs: { readonly ipip: boolean; readonly plain: boolean };
  readonly self: BgpNode;
  readonly canTunnel: boolean;
  problem(problem: BgpProblem): void;
};

function kernelPool(
  { cidr, family, encapsulation }: BgpPool,
  { programs, self, canTunnel, problem }: KernelOptions,
): KernelPool {
  if (encapsulation === "vxlan") return { cidr, how: "leave" };
  if (encapsulation === "none" || family === 6) return { cidr, how: programs.plain ? "program" : "leave" };
  if (!programs.ipip) return { cidr, how: "leave" };
  if (!canTunnel) {
    const says = `programClusterRoutes leaves IPIP pool ${cidr} to BIRD, which only Calico's own BIRD 1.6 can do; set it to EnabledNoEncapOnly`;
    problem({ code: "BGP_IPIP", about: "BGPConfiguration default", says });
    return { cidr, how: "leave" };
  }
  const subnet = self.network[4];
  return encapsulation === "ipip" || subnet === undefined
    ? { cidr, how: "tunnel" }
    : { cidr, how: "tunnel-beyond-subnet", subnet };
}

/** Where both ends speak WireGuard, routes through its device are the agent's. */
function wireguardHops(family: 4 | 6, self: BgpNode, { nodes }: BgpCluster): readonly string[] {
  if (self.wireguard[family] === undefined) return [];
  return unique(
    nodes.flatMap((node) =>
      node === self || node.wireguard[family] === undefined ? [] : (node.address[family] ?? []),
    ),
  );
}

function textsOf(ranges: readonly AddressRange[], family: 4 | 6): readonly string[] {
  return unique(ranges.filter((range) => range.family === family).map(rangeText));
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort();
}
