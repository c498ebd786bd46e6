// The facts of the host that this runs on, in its own network and mounts. Nothing is changed.
import { readFileSync } from "node:fs";
import { type Family, systemClock } from "../../../base/lib/index.ts";
import { type Link, mainTable, type Netlink, openNetlink, readSysctl } from "../../../base/linux/kernel.ts";
import type { Datastore } from "../../../calico/datastore/index.ts";
import { forwardingOf } from "../checks/host.ts";
import type { BirdFacts, HostFacts, LinkFact, RouteFact } from "../facts.ts";
import { clusterOf, familiesOf, familyOf, type WholeCluster, type WholeHost } from "../families.ts";
import { bare } from "../networks.ts";
import { type HealthEndpoint, readAgent } from "./agent.ts";
import { readBird } from "./bird.ts";
import { readFeatures } from "./features.ts";
import { readFirewalls } from "./firewalls/firewalls.ts";
import { readLookups } from "./lookups.ts";
import { readNeighbours, readPodTroubles } from "./neighbours.ts";
import { readPluginFiles } from "./plugin-files.ts";
import { namespacesByAddress } from "./pod-namespaces.ts";
import { probe } from "./probes.ts";
import { readPolicyRouting } from "./routing-rules.ts";
import { pingVerdict, readPolicyData, subjectOf, tunnelSource } from "./verdicts.ts";

export type HostOptions = {
  readonly node: string;
  readonly nameFrom: string;
  readonly cluster: WholeCluster;
  readonly datastore: Datastore;
  readonly signal: AbortSignal;
  readonly health: HealthEndpoint;
  /** Pods (NAMESPACE/NAME) and addresses that are asked about: they are pinged, however many others there are. */
  readonly asked?: readonly string[];
};

export async function readHost(options: HostOptions): Promise<WholeHost> {
  const { node, nameFrom, cluster, datastore, signal, health, asked = [] } = options;
  await using netlink = openNetlink();
  const links = await netlink.links();
  const nameOfLink = new Map(links.map(({ index, name }) => [index, name]));
  const addresses = (await netlink.addresses()).map(({ index, address }) => ({
    link: nameOfLink.get(index) ?? String(index),
    address,
  }));
  const families = familiesOf(cluster);
  const signaturesBefore = signatureDrops();
  const [bird, bird6, firewalls, namespaces] = await Promise.all([
    readBird("bird", systemClock, signal),
    families.includes(6) ? readBird("bird6", systemClock, signal) : undefined,
    readFirewalls(families),
    namespacesByAddress(netlink),
  ]);
  const before = reversePathDrops();
  const probed = families.map((family) => {
    const uplink = uplinkOf({ node, cluster, family }, addresses);
    const mtu = links.find(({ name }) => name === uplink)?.mtu;
    const daemon = family === 6 ? (bird6 ?? bird) : bird;
    return probe({ node, cluster: clusterOf(cluster, family), mtu, bird: daemon, namespaces, asked });
  });
  const probes = (await Promise.all(probed)).flat();
  const dropped = reversePathDrops();
  const unsigned = signatureDrops();
  const failed = probes.filter(({ ok, kind }) => !ok && (kind === "node" || kind === "pod" || kind === "pod to pod"));
  const data = failed.length === 0 ? undefined : await readPolicyData(datastore, signal);
  const agent = await readAgent(health, firewalls.owners);
  const isSilent = probes.some(({ ok }) => !ok) || hasSessionDown(bird) || hasSessionDown(bird6);
  const conntrack = readConntrack();
  const { neighbours, tunnelEntries } = await readNeighbours(netlink, nameOfLink);
  return {
    node,
    nameFrom,
    links: links.map(linkFact),
    addresses,
    routes: await readRoutes(netlink, nameOfLink),
    lookups: await readLookups(netlink, { node, cluster, nameOfLink, asked }),
    sysctls: readSysctls(uplinkOf({ node, cluster, family: 4 }, addresses), links),
    foreignDrops: firewalls.drops,
    ruleOwners: firewalls.owners,
    neighbours,
    ...(tunnelEntries === undefined ? {} : { tunnelEntries }),
    suspects: isSilent ? await firewalls.suspects() : [],
    podTroubles: await readPodTroubles({ probes, namespaces, neighbours }),
    cni: readPluginFiles(),
    ...(agent === undefined ? {} : { agent }),
    ...(failed.length === 0 ? {} : await readPolicyRouting(netlink, { node, cluster, failed, links, addresses })),
    probes,
    verdicts: failed.flatMap(({ from, fromNode, to, node, address }) => {
      const family = familyOf(address) ?? 4;
      const ends = { from: subjectOf(from, family, cluster), to: subjectOf(to, family, cluster), family };
      const source =
        from.includes("/") || !to.includes("/")
          ? undefined
          : tunnelSource({ from: fromNode, to: node, address }, cluster);
      const found = data === undefined ? undefined : pingVerdict({ ...ends, source }, data);
      return found === undefined ? [] : [{ from, to, ...found }];
    }),
    features: await readFeatures(cluster, links),
    notLookedAt: firewalls.notLookedAt,
    ...(conntrack === undefined ? {} : { conntrack }),
    ...(bird === undefined ? {} : { bird }),
    ...(bird6 === undefined ? {} : { bird6 }),
    ...(signaturesBefore === undefined || unsigned === undefined
      ? {}
      : { signatureDrops: unsigned - signaturesBefore }),
    ...(before === undefined || dropped === undefined ? {} : { reversePathDrops: dropped - before }),
  };
}

function uplinkOf(
  { node, cluster, family }: { node: string; cluster: WholeCluster; family: Family },
  addresses: HostFacts["addresses"],
): string | undefined {
  const address = cluster.nodes.find(({ name }) => name === node)?.addresses[family];
  return addresses.find((each) => address !== undefined && bare(each.address) === bare(address))?.link;
}

function hasSessionDown(bird: BirdFacts | undefined): boolean {
  return bird?.sessions.some(({ state }) => state !== "Established") === true;
}

function linkFact({ name, kind, isUp, mtu, mac }: Link): LinkFact {
  return { name, isUp, mtu, ...(kind === undefined ? {} : { kind }), ...(mac === undefined ? {} : { mac }) };
}

async function readRoutes(netlink: Netlink, nameOfLink: ReadonlyMap<number, string>): Promise<RouteFact[]> {
  const routes = await netlink.routes({ table: mainTable });
  return routes.map(({ destination, type, protocol, gateway, index }) => ({
    destination,
    type: String(type),
    protocol: String(protocol),
    ...(gateway === undefined ? {} : { gateway }),
    ...(index === undefined ? {} : { link: nameOfLink.get(index) ?? String(index) }),
  }));
}

/** By their names with dots, though an interface may have one in its own. */
function readSysctls(uplink: string | undefined, links: readonly Link[]): { [name: string]: string } {
  const ofLink = (link: string, last: string) => ["net", "ipv4", "conf", link, last];
  const carriers = links.filter(({ name, kind }) => name === uplink || isOfCalico(name, kind)).map(({ name }) => name);
  const tunnels = links.filter(({ kind }) => isTunnel(kind)).map(({ name }) => name);
  const paths = [
    ...Object.values(forwardingOf).map((name) => name.split(".")),
    ...["all", ...new Set([...(uplink === undefined ? [] : [uplink]), ...tunnels])].map((link) =>
      ofLink(link, "rp_filter"),
    ),
    ...carriers.map((link) => ofLink(link, "forwarding")),
  ];
  return Object.fromEntries(
    paths.flatMap((path) => {
      try {
        return [[path.join("."), readSysctl(path)]];
      } catch {
        return []; // a kernel without IPv6, or an interface that has gone
      }
    }),
  );
}

function isOfCalico(name: string, kind: string | undefined): boolean {
  return /^cali[0-9a-f]{11}$/.test(name) || isTunnel(kind);
}

function isTunnel(kind: string | undefined): boolean {
  return kind === "vxlan" || kind === "ipip";
}

/** In a network namespace of its own a host counts what it follows; the limit is the machine's. */
function readConntrack(): HostFacts["conntrack"] {
  try {
    const value = (name: string) => Number(readSysctl(["net", "netfilter", name]));
    return { count: value("nf_conntrack_count"), max: value("nf_conntrack_max") };
  } catch {
    return undefined; // nothing is followed
  }
}

/** Of the kernel's counters of TCP, by name. */
function countersOf(...names: readonly string[]): number | undefined {
  const lines = readFileSync("/proc/self/net/netstat", "utf8").split("\n");
  const [heads = [], values = []] = lines.filter((line) => line.startsWith("TcpExt:")).map((line) => line.split(" "));
  const found = names.map((name) => heads.indexOf(name)).filter((at) => at >= 0);
  return found.length === 0 ? undefined : found.reduce((sum, at) => sum + Number(values[at]), 0);
}

function reversePathDrops(): number | undefined {
  return countersOf("IPReversePathFilter");
}

/** Not those without a signature, which our own knock at the port is one of. */
function signatureDrops(): number | undefined {
  return countersOf("TCPMD5Unexpected", "TCPMD5Failure");
}
