// The facts of the host that this runs on, in its own network and mounts. Nothing is changed.
import { readFileSync } from "node:fs";
import { messageOf, systemClock } from "../../../base/lib/index.ts";
import { runProgram } from "../../../base/linux/index.ts";
import { kernelErrno, mainTable, type Netlink, openNetlink, readSysctl } from "../../../base/linux/kernel.ts";
import type { Datastore } from "../../../calico/datastore/index.ts";
import { destinations } from "../checks/routes.ts";
import type { ClusterFacts, ForeignDrop, HostFacts, LinkFact, LookupFact, NotLookedAt, RouteFact } from "../facts.ts";
import { bare, nodeNamed } from "../networks.ts";
import { readBird } from "./bird.ts";
import { readFeatures } from "./features.ts";
import { foreignDrops, foreignLegacyDrops } from "./firewall.ts";
import { readPluginFiles } from "./plugin-files.ts";
import { namespacesByAddress } from "./pod-namespaces.ts";
import { probe } from "./probes.ts";
import { pingVerdict, readPolicyData } from "./verdicts.ts";

export type HostOptions = {
  readonly node: string;
  readonly nameFrom: string;
  readonly cluster: ClusterFacts;
  readonly datastore: Datastore;
  readonly signal: AbortSignal;
};

const mostLookups = 2_000;

export async function readHost({ node, nameFrom, cluster, datastore, signal }: HostOptions): Promise<HostFacts> {
  await using netlink = openNetlink();
  const notLookedAt: NotLookedAt[] = [];
  const links = await netlink.links();
  const nameOfLink = new Map(links.map(({ index, name }) => [index, name]));
  const addresses = (await netlink.addresses({ family: "inet" })).map(({ index, address }) => ({
    link: nameOfLink.get(index) ?? String(index),
    address,
  }));
  const [bird, drops, namespaces] = await Promise.all([
    readBird(systemClock, signal),
    readFirewalls(notLookedAt),
    namespacesByAddress(),
  ]);
  const uplink = uplinkOf(node, cluster, addresses);
  const mtu = links.find(({ name }) => name === uplink)?.mtu;
  const before = reversePathDrops();
  const probes = await probe({ node, cluster, mtu, bird, namespaces });
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
    sysctls: readSysctls(uplink),
    foreignDrops: drops,
    cni: readPluginFiles(),
    probes,
    verdicts: failed.flatMap(({ from, to }) => {
      const found = data === undefined ? undefined : pingVerdict(from.includes("/") ? from : `node/${from}`, to, data);
      return found === undefined ? [] : [{ from, to, ...found }];
    }),
    features: await readFeatures(cluster, links),
    notLookedAt,
    ...(bird === undefined ? {} : { bird }),
    ...(before === undefined || dropped === undefined ? {} : { reversePathDrops: dropped - before }),
  };
}

function uplinkOf(node: string, cluster: ClusterFacts, addresses: HostFacts["addresses"]): string | undefined {
  const address = nodeNamed(node, cluster)?.address;
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
  const routes = await netlink.routes({ family: "inet", table: mainTable });
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
  { node, cluster, nameOfLink }: { node: string; cluster: ClusterFacts; nameOfLink: ReadonlyMap<number, string> },
): Promise<LookupFact[]> {
  const own = cluster.pods.flatMap((pod) => (pod.node === node && pod.address !== undefined ? [pod.address] : []));
  const wanted = [...new Set([...destinations(node, cluster).map(({ address }) => address), ...own])];
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
    "net.ipv4.ip_forward",
    ...["all", ...(uplink === undefined ? [] : [uplink])].map((link) => `net.ipv4.conf.${link}.rp_filter`),
  ];
  return Object.fromEntries(names.map((name) => [name, readSysctl(name.split("."))]));
}

async function readFirewalls(notLookedAt: NotLookedAt[]): Promise<ForeignDrop[]> {
  const drops: ForeignDrop[] = [];
  try {
    const { stdout } = await runProgram("nft", ["-j", "list", "ruleset"], { maxOutputBytes: 256 << 20 });
    drops.push(...foreignDrops(stdout));
  } catch (error) {
    notLookedAt.push({ what: "nftables", why: messageOf(error), command: "nft list ruleset" });
  }
  if (!hasLegacyTables()) return drops;
  try {
    const { stdout } = await runProgram("iptables-legacy-save", ["-t", "filter"]);
    drops.push(...foreignLegacyDrops(stdout));
  } catch (error) {
    notLookedAt.push({ what: "iptables-legacy", why: messageOf(error), command: "iptables-legacy -S FORWARD" });
  }
  return drops;
}

/** To ask iptables-legacy would make its tables; the kernel lists those that are there. */
function hasLegacyTables(): boolean {
  try {
    return readFileSync("/proc/self/net/ip_tables_names", "utf8").split("\n").includes("filter");
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
