// Hardware addresses that this host has for nodes, tunnels and pods; and what is wrong inside of pods that do not answer.
import { kernelErrno, type Netlink, openNetlink } from "../../../base/linux/kernel.ts";
import type { HostFacts, LinkFact, NeighbourFact, Probe, TunnelEntry } from "../facts.ts";
import { familyOf } from "../families.ts";
import { bare } from "../networks.ts";

type Read = Pick<HostFacts, "neighbours" | "tunnelEntries"> & { readonly neighbours: readonly NeighbourFact[] };

/** Of the interfaces that these names are of. */
export async function readNeighbours(netlink: Netlink, names: ReadonlyMap<number, string>): Promise<Read> {
  const [four, six, entries] = await Promise.all([
    netlink.neighbours({ family: "inet" }),
    netlink.neighbours({ family: "inet6" }),
    netlink.neighbours({ family: "bridge" }),
  ]);
  const neighbours = [...four, ...six].flatMap(({ index, address, mac, states }): NeighbourFact[] => {
    const link = names.get(index);
    const isUsed = !states.includes("failed") && !states.includes("incomplete");
    return link === undefined || address === undefined || mac === undefined || !isUsed ? [] : [{ link, address, mac }];
  });
  const tunnelEntries = entries.flatMap(({ index, address, mac }): TunnelEntry[] => {
    const link = names.get(index);
    return link === undefined || address === undefined || mac === undefined ? [] : [{ link, mac, to: address }];
  });
  return { neighbours, tunnelEntries };
}

export type PodOptions = {
  readonly probes: readonly Probe[];
  readonly namespaces: ReadonlyMap<string, string>;
  readonly neighbours: readonly NeighbourFact[];
};

/** Of the pods of this host that it has pinged in vain. */
export async function readPodTroubles({
  probes,
  namespaces,
  neighbours,
}: PodOptions): Promise<{ readonly pod: string; readonly says: string }[]> {
  const mute = probes.filter(({ kind, ok, fromNode, node }) => kind === "pod" && !ok && fromNode === node);
  const found = mute.map(async ({ to, address }) => {
    const namespace = namespaces.get(address);
    const entry = neighbours.find((each) => each.address === address);
    const says = namespace === undefined ? undefined : await troubleInside(namespace, address, entry);
    return says === undefined ? [] : [{ pod: to, says }];
  });
  return (await Promise.all(found)).flat();
}

/** Any address beyond its link: a pod has one way out. */
const anywhere = { 4: "192.0.2.1", 6: "2001:db8::1" } as const;

async function troubleInside(
  namespace: string,
  address: string,
  entry: NeighbourFact | undefined,
): Promise<string | undefined> {
  await using netlink = openNetlink({ namespace });
  const own = (await netlink.addresses()).find((each) => bare(each.address) === address);
  const link: (Pick<LinkFact, "name" | "isUp"> & { mac: string | undefined }) | undefined = (
    await netlink.links()
  ).find(({ index }) => index === own?.index);
  if (link === undefined) return undefined;
  if (!link.isUp) return `its ${link.name} is down`;
  try {
    await netlink.routeTo(anywhere[familyOf(address) ?? 4]);
  } catch (error) {
    return `it has no route out (${kernelErrno(error) ?? "refused"})`;
  }
  if (entry === undefined || link.mac === undefined || entry.mac === link.mac) return undefined;
  return `its node has the hardware address ${entry.mac} for it, and its ${link.name} has ${link.mac}`;
}
