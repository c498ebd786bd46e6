// The facts of the host that this runs on, in its own network and mounts. Nothing is changed.
import { readFileSync } from "node:fs";
import { type Family, messageOf, systemClock } from "../../../base/lib/index.ts";
import { runProgram } from "../../../base/linux/index.ts";
import { kernelErrno, mainTable, type Netlink, openNetlink, readSysctl } from "../../../base/linux/kernel.ts";
import type { Datastore } from "../../../calico/datastore/index.ts";
import { forwardingOf } from "../checks/host.ts";
import { destinations } from "../checks/routes.ts";
import type { ForeignDrop, HostFacts, LinkFact, LookupFact, NotLookedAt, RouteFact } from "../facts.ts";
import { clusterOf, familiesOf, familyOf, type WholeCluster, type WholeHost } from "../families.ts";
import { bare } from "../networks.ts";
import { readBird } from "./bird.ts";
import { readFeatures } from "./features.ts";
import { foreignDrops, foreignLegacyDrops, ruleOwners } from "./firewall.ts";
import { readPluginFiles } from "./plugin-files.ts";
import { namespacesByAddress } from "./pod-namespaces.ts";
import { probe } from "./probes.ts";
import { pingVerdict, readPolicyData } from "./verdicts.ts";

export type HostOptions = {
  readonly node: string;
  readonly nameFrom: string;
  readonly cluster: WholeCluster;
  readonly datastore: Datastore;
  readonly signal: AbortSignal;
};

const mostLookups = 2_000;

export async function readHost({ node, nameFrom, cluster, datastore, signal }: HostOptions): Promise<WholeHost> {
  await using netlink = openNetlink();
  const notLookedAt: NotLookedAt[] = [];
  const links = await netlink.links();
  const nameOfLink = new Map(links.map(({ index, name }) => [index, name]));
  const addresses = (await netlink.addresses()).map(({ index, address }) => ({
    link: nameOfLink.get(index) ?? String(index),
    address,
  }));
  const families = familiesOf(cluster);
  const [bird, bird6, { drops, owners }, namespaces] = await Promise.all([
    readBird("bird", systemClock, signal),
    families.includes(6) ? readBird("bird6", systemClock, signal) : undefined,
    readFirewalls(families, notLookedAt),
    namespacesByAddress(),
  ]);
  const before = reversePathDrops();
  const probed = families.map((family) => {
    const uplink = uplinkOf({ node, cluster, family }, addresses);
    const mtu = links.find(({ name }) => name === uplink)?.mtu;
    const daemon = family === 6 ? (bird6 ?? bird) : bird;
    return probe({ node, cluster: clusterOf(cluster, family), mtu, bird: daemon, namespaces });
  });
  const probes = (await Promise.all(probed)).flat();
  const dropped = reversePathDrops();
  const failed = probes.filter(({ ok, kind }) => !ok && (kind === "pod" || kind === "pod to pod"));
  const data = failed.length === 0 ? undefined : await readPolicyData(datastore, signal);
  return {
    node,
    nameFrom,
    links: links.map(linkFact),
    addresses,
    routes: await readRoutes(netlink, nameOfLink),
    lookups: await readLookups(netlink, { node, cluster, nameOfLink }),
    sysctls: readSysctls(uplinkOf({ node, cluster, family: 4 }, addresses)),
    foreignDrops: drops,
    ruleOwners: owners,
    cni: readPluginFiles(),
    probes,
    verdicts: failed.flatMap(({ from, to, address }) => {
      const family = familyOf(address) ?? 4;
      const asked = { from: subjectOf(from, family, cluster), to: subjectOf(to, family, cluster), family };
      const found = data === undefined ? undefined : pingVerdict(asked, data);
      return found === undefined ? [] : [{ from, to, ...found }];
    }),
    features: await readFeatures(cluster, links),
    notLookedAt,
    ...(bird === undefined ? {} : { bird }),
    ...(bird6 === undefined ? {} : { bird6 }),
    ...(before === undefined || dropped === undefined ? {} : { reversePathDrops: dropped - before }),
  };
}

/** How explain is asked about a node, or a pod: one of no Kubernetes by its address. */
export function subjectOf(name: string, family: Family, { pods }: WholeCluster): string {
  if (!name.includes("/")) return `node/${name}`;
  const pod = pods.find((each) => `${each.namespace}/${each.name}` === name);
  return pod?.link === undefined ? name : (pod.addresses[family] ?? name);
}

function uplinkOf(
  { node, cluster, family }: { node: string; cluster: WholeCluster; family: Family },
  addresses: HostFacts["addresses"],
): string | undefined {
  const address = cluster.nodes.find(({ name }) => name === node)?.addresses[family];
  return addresses.find((each) => address !== undefined && bare(each.address) === bare(address))?.link;
}

function linkFact({
  name,
  kind,
  isUp,
  mtu,
}: {
  name: string;
  kind: string | undefined;
  isUp: boolean;
  mtu: number;
}): LinkFact {
  return { name, isUp, mtu, ...(kind === undefined ? {} : { kind }) };
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

async function readLookups(
  netlink: Netlink,
  { node, cluster, nameOfLink }: { node: string; cluster: WholeCluster; nameOfLink: ReadonlyMap<number, string> },
): Promise<LookupFact[]> {
  const own = cluster.pods.filter((pod) => pod.node === node).flatMap(({ addresses }) => Object.values(addresses));
  const away = familiesOf(cluster).flatMap((family) => destinations(node, clusterOf(cluster, family)));
  const wanted = [...new Set([...away.map(({ address }) => address), ...own])];
  const lookups: LookupFact[] = [];
  for (const to of wanted.slice(0, mostLookups)) lookups.push(await lookUp(netlink, to, nameOfLink));
  return lookups;
}

export async function lookUp(
  netlink: Netlink,
  to: string,
  nameOfLink: ReadonlyMap<number, string>,
): Promise<LookupFact> {
  try {
    const { type, gateway, index } = await netlink.routeTo(to);
    return {
      to,
      type: String(type),
      ...(gateway === undefined ? {} : { gateway }),
      ...(index === undefined ? {} : { link: nameOfLink.get(index) ?? String(index) }),
    };
  } catch (error) {
    return { to, refused: kernelErrno(error) ?? messageOf(error) };
  }
}

function readSysctls(uplink: string | undefined): { [name: string]: string } {
  const names = [
    ...Object.values(forwardingOf),
    ...["all", ...(uplink === undefined ? [] : [uplink])].map((link) => `net.ipv4.conf.${link}.rp_filter`),
  ];
  return Object.fromEntries(
    names.flatMap((name) => {
      try {
        return [[name, readSysctl(name.split("."))]];
      } catch {
        return []; // a kernel without IPv6
      }
    }),
  );
}

async function readFirewalls(
  families: readonly Family[],
  notLookedAt: NotLookedAt[],
): Promise<{ readonly drops: ForeignDrop[]; readonly owners: HostFacts["ruleOwners"] }> {
  const drops: ForeignDrop[] = [];
  let owners: HostFacts["ruleOwners"] = [];
  try {
    const { stdout } = await runProgram("nft", ["-j", "list", "ruleset"], { maxOutputBytes: 256 << 20 });
    drops.push(...foreignDrops(stdout));
    owners = ruleOwners(stdout);
  } catch (error) {
    notLookedAt.push({ what: "nftables", why: messageOf(error), command: "nft list ruleset" });
  }
  for (const family of families.filter(hasLegacyTables)) {
    const program = family === 4 ? "iptables-legacy" : "ip6tables-legacy";
    try {
      const { stdout } = await runProgram(`${program}-save`, ["-t", "filter"]);
      drops.push(...foreignLegacyDrops(stdout, family));
    } catch (error) {
      notLookedAt.push({ what: program, why: messageOf(error), command: `${program} -S FORWARD` });
    }
  }
  return { drops, owners };
}

/** To ask iptables-legacy would make its tables; the kernel lists those that are there. */
function hasLegacyTables(family: Family): boolean {
  try {
    return readFileSync(`/proc/self/net/${family === 4 ? "ip" : "ip6"}_tables_names`, "utf8")
      .split("\n")
      .includes("filter");
  } catch {
    return false; // a kernel without them
  }
}

function reversePathDrops(): number | undefined {
  const lines = readFileSync("/proc/self/net/netstat", "utf8").split("\n");
  const [names = "", values = ""] = lines.filter((line) => line.startsWith("TcpExt:"));
  const at = names.split(" ").indexOf("IPReversePathFilter");
  return at < 0 ? undefined : Number(values.split(" ")[at]);
}
