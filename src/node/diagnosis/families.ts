// IPv4 and IPv6 beside each other: what is read is of both, and each check looks at one of them. Ways of packets, tunnels, sessions and firewalls of
// the two have nothing to do with each other, so a cluster with both is two diagnoses.
import { type Family, parseRange } from "../../base/lib/index.ts";
import type { BirdFacts, ClusterFacts, Facts, HostFacts, NodeFact, PodFact } from "./facts.ts";
import { duplicates } from "./networks.ts";

export type ByFamily<T> = { readonly 4?: T; readonly 6?: T };

export type WholeNode = Omit<NodeFact, "address" | "tunnelAddress"> & {
  readonly addresses: ByFamily<string>;
  readonly tunnelAddresses: ByFamily<string>;
};

export type WholePod = Omit<PodFact, "address" | "asksForPools"> & {
  readonly addresses: ByFamily<string>;
  readonly asksForPools: ByFamily<readonly string[]>;
};

export type WholeCluster = Omit<ClusterFacts, "family" | "nodes" | "pods"> & {
  readonly nodes: readonly WholeNode[];
  readonly pods: readonly WholePod[];
};

/** BIRD 1.6 is two daemons, and the second one is IPv6's. */
export type WholeHost = HostFacts & { readonly bird6?: BirdFacts };

export type WholeFacts = {
  readonly cluster: WholeCluster;
  readonly hosts: readonly WholeHost[];
  readonly nowMs: number;
};

const families = [4, 6] as const;

/** Which the cluster uses: where pods or blocks have it. A pool that nobody has taken an address from says little, unless it is all there is. */
export function familiesOf({ pools, blocks, pods }: WholeCluster): readonly Family[] {
  const has = (family: Family) => (each: { readonly cidr: string }) => familyOf(each.cidr) === family;
  const used = families.filter(
    (family) => blocks.some(has(family)) || pods.some(({ addresses }) => addresses[family] !== undefined),
  );
  if (used.length > 0) return used;
  return pools.length > 0 && pools.every(has(6)) ? [6] : [4];
}

export function factsOf({ cluster, hosts, nowMs }: WholeFacts, family: Family): Facts {
  return { cluster: clusterOf(cluster, family), hosts: hosts.map((host) => hostOf(host, family)), nowMs };
}

export function clusterOf(cluster: WholeCluster, family: Family): ClusterFacts {
  const isOwn = (each: { readonly cidr: string }) => familyOf(each.cidr) === family;
  const identifiers = family === 6 ? duplicates(clusterOf(cluster, 4)) : new Map<string, string[]>();
  return {
    ...cluster,
    family,
    ...(identifiers.size === 0 ? {} : { identifiers }),
    nodes: cluster.nodes.map(({ addresses, tunnelAddresses, internalAddresses, ...node }): NodeFact => {
      const [address, tunnelAddress] = [addresses[family], tunnelAddresses[family]];
      return {
        ...node,
        internalAddresses: internalAddresses.filter((each) => familyOf(each) === family),
        ...(address === undefined ? {} : { address }),
        ...(tunnelAddress === undefined ? {} : { tunnelAddress }),
      };
    }),
    pods: cluster.pods.map(({ addresses, asksForPools, ...pod }): PodFact => {
      const address = addresses[family];
      return { ...pod, asksForPools: asksForPools[family] ?? [], ...(address === undefined ? {} : { address }) };
    }),
    pools: cluster.pools.filter(isOwn),
    blocks: cluster.blocks.filter(isOwn),
    affinities: cluster.affinities.filter(isOwn),
    serviceRanges: cluster.serviceRanges.filter((range) => familyOf(range) === family),
  };
}

function hostOf({ bird, bird6, ...host }: WholeHost, family: Family): HostFacts {
  const daemon = family === 6 && bird6 !== undefined ? bird6 : bird;
  return {
    ...host,
    addresses: host.addresses.filter(({ address }) => familyOf(address) === family),
    routes: host.routes.filter(({ destination }) => familyOf(destination) === family),
    lookups: host.lookups.filter(({ to }) => familyOf(to) === family),
    foreignDrops: host.foreignDrops.filter((drop) => drop.families.includes(family)),
    ...(host.suspects === undefined
      ? {}
      : { suspects: host.suspects.filter(({ families: of }) => of.includes(family)) }),
    ...(host.podLookups === undefined
      ? {}
      : { podLookups: host.podLookups.filter(({ to }) => familyOf(to) === family) }),
    probes: host.probes.filter(({ address }) => familyOf(address) === family),
    verdicts: host.verdicts.filter((verdict) => verdict.family === family),
    ...(daemon === undefined ? {} : { bird: birdOf(daemon, family) }),
  };
}

function birdOf(daemon: BirdFacts, family: Family): BirdFacts {
  const sessions = daemon.sessions.filter(({ address }) => familyOf(address) === family);
  const areUp = (some: BirdFacts["sessions"]) => some.every(({ state }) => state === "Established");
  return { ...daemon, sessions, isWaitOfOtherFamily: areUp(sessions) && !areUp(daemon.sessions) };
}

/** Undefined: it is neither an address nor a network. */
export function familyOf(text: string): Family | undefined {
  return parseRange(text)?.family;
}
