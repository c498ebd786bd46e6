// What the kernel would do with packets of pods whose pings had no answer, as it does it: rules of routing ask who sends a packet and where it arrives,
// which a look at the host's own routes does not show.
import type { Link, Netlink, Rule } from "../../../base/linux/kernel.ts";
import { tunnelOf } from "../checks/neighbours.ts";
import type { HostFacts, LinkFact, PodFact, PodLookup, Probe } from "../facts.ts";
import { clusterOf, familyOf, type WholeCluster } from "../families.ts";
import { bare, nodeNamed, poolOf, wayBetween } from "../networks.ts";
import { interfaceOfPod } from "../pod-interface.ts";
import { lookUp } from "./lookups.ts";

export type Asked = {
  readonly node: string;
  readonly cluster: WholeCluster;
  readonly failed: readonly Probe[];
  readonly links: readonly Link[];
  readonly addresses: HostFacts["addresses"];
};

type Read = Required<Pick<HostFacts, "podLookups" | "rules">>;

const mostProbes = 20;

export async function readPolicyRouting(netlink: Netlink, asked: Asked): Promise<Read> {
  const rules = (await netlink.rules()).filter(({ priority }) => !ofKernel.has(priority)).map(ruleText);
  if (rules.length === 0) return { podLookups: [], rules }; // then every packet goes as the host's own
  const nameOfLink = new Map(asked.links.map(({ index, name }) => [index, name]));
  const indexOf = new Map(asked.links.map(({ index, name }) => [name, index]));
  const podLookups: PodLookup[] = [];
  for (const { from, to, arrives } of waysOf(asked)) {
    const index = indexOf.get(arrives);
    if (index === undefined) continue;
    const { gateway, link, refused } = await lookUp(netlink, to, nameOfLink, { from, index });
    if (refused !== undefined && !isOfRoute.has(refused)) continue;
    podLookups.push({
      from,
      to,
      arrives,
      ...(gateway === undefined ? {} : { gateway }),
      ...(link === undefined ? {} : { link }),
      ...(refused === undefined ? {} : { refused }),
    });
  }
  return { podLookups, rules };
}

/** For its own addresses, the table main, and the table default. */
const ofKernel: ReadonlySet<number> = new Set([0, 32_766, 32_767]);

/** Others mean the sender: the reverse path filter minds him, or he has an address of this host. */
const isOfRoute: ReadonlySet<string> = new Set(["ENETUNREACH", "EACCES", "EHOSTUNREACH"]);

type Way = Pick<PodLookup, "from" | "to" | "arrives">;

/** There and back, of pings between pods. */
function waysOf({ node, cluster: whole, failed, links, addresses }: Asked): Way[] {
  const asked = failed.filter(({ kind }) => kind === "pod to pod").slice(0, mostProbes);
  const ways = asked.flatMap((probe): Way[] => {
    const family = familyOf(probe.address) ?? 4;
    const cluster = clusterOf(whole, family);
    const podOf = (name: string) => cluster.pods.find((pod) => `${pod.namespace}/${pod.name}` === name);
    const [from, to] = [podOf(probe.from), podOf(probe.to)];
    if (from?.address === undefined || to === undefined) return [];
    const pool = poolOf(probe.address, cluster.pools);
    const [own, far] = [nodeNamed(node, cluster), nodeNamed(probe.node, cluster)];
    const arrivesFrom = (pod: PodFact): string | undefined => {
      if (pod.node === node) return interfaceOfPod(pod);
      const way = own === undefined || far === undefined || pool === undefined ? "plain" : wayBetween(own, far, pool);
      if (way === "vxlan") return tunnelOf(family, links.map(linkFact))?.name;
      if (way === "ipip") return links.find(({ kind }) => kind === "ipip")?.name;
      return addresses.find(({ address }) => bare(address) === bare(own?.address ?? ""))?.link;
    };
    const [there, back] = [arrivesFrom(from), arrivesFrom(to)];
    return [
      ...(there === undefined ? [] : [{ from: from.address, to: probe.address, arrives: there }]),
      ...(back === undefined ? [] : [{ from: probe.address, to: from.address, arrives: back }]),
    ];
  });
  return [...new Map(ways.map((way) => [JSON.stringify(way), way])).values()];
}

function linkFact({ name, kind, isUp, mtu }: Link): LinkFact {
  return { name, isUp, mtu, ...(kind === undefined ? {} : { kind }) };
}

/** As `ip rule` shows it, as far as it can matter here. */
function ruleText({ priority, from, to, mark, markMask, iif, oif, action, table, invert }: Rule): string {
  const hex = (value: number) => `0x${value.toString(16)}`;
  const marked = mark === undefined ? [] : [`fwmark ${hex(mark)}${markMask === undefined ? "" : `/${hex(markMask)}`}`];
  const words = [
    ...(invert === true ? ["not"] : []),
    `from ${from ?? "all"}`,
    ...(to === undefined ? [] : [`to ${to}`]),
    ...marked,
    ...(iif === undefined ? [] : [`iif ${iif}`]),
    ...(oif === undefined ? [] : [`oif ${oif}`]),
    action === "lookup" ? `lookup ${table}` : String(action),
  ];
  return `${priority}: ${words.join(" ")}`;
}
