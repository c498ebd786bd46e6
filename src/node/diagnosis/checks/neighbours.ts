// Hardware addresses that a host has for others, against what those have: asked where packets between two nodes, or through their tunnel, are lost.
import type { ClusterFacts, HostFacts, LinkFact } from "../facts.ts";
import { bare, nodeNamed } from "../networks.ts";

export type Strayed = { readonly at: string; readonly says: string };

/** By its name; a device that somebody has named otherwise is IPv4's. */
export function tunnelOf(family: ClusterFacts["family"], links: HostFacts["links"]): LinkFact | undefined {
  const six = "vxlan-v6.calico";
  if (family === 6) return links.find(({ name }) => name === six);
  return (
    links.find(({ name }) => name === "vxlan.calico") ??
    links.find(({ name, kind }) => kind === "vxlan" && name !== six)
  );
}

/** Of the two, the one whose entry for the other's address is wrong: stale, or set by hand, or another machine answers for the address. */
export function strayedNeighbour(
  [one, other]: readonly [string, string],
  hosts: readonly HostFacts[],
  cluster: ClusterFacts,
): Strayed | undefined {
  const there = hosts.find(({ node }) => node === other);
  const address = bare(nodeNamed(other, cluster)?.address ?? "");
  const entry = hosts.find(({ node }) => node === one)?.neighbours?.find((each) => each.address === address);
  const link = there?.addresses.find((own) => bare(own.address) === address)?.link;
  const mac = there?.links.find(({ name }) => name === link)?.mac;
  if (entry === undefined || mac === undefined || entry.mac === mac) return undefined;
  return {
    at: one,
    says: `${one} has the hardware address ${entry.mac} for ${address} on ${entry.link}, and ${link} of ${other} has ${mac}`,
  };
}

/** What is wrong with the entries of one host's tunnel for the other node. */
export function strayedTunnel(
  [one, other]: readonly [string, string],
  hosts: readonly HostFacts[],
  cluster: ClusterFacts,
): Strayed | undefined {
  const [here, there] = [hosts.find(({ node }) => node === one), hosts.find(({ node }) => node === other)];
  const peer = nodeNamed(other, cluster);
  const device = here === undefined ? undefined : tunnelOf(cluster.family, here.links);
  if (here?.neighbours === undefined || device === undefined || peer?.tunnelAddress === undefined) return undefined;
  const address = bare(peer.address ?? "");
  const entry = here.neighbours.find((each) => each.link === device.name && each.address === peer.tunnelAddress);
  const said = (says: string): Strayed => ({ at: one, says: `${device.name} of ${one} ${says}` });
  if (entry === undefined) return said(`has no neighbour entry for ${other} (${peer.tunnelAddress})`);
  const mac = there === undefined ? undefined : tunnelOf(cluster.family, there.links)?.mac;
  if (mac !== undefined && mac !== entry.mac)
    return said(`has the hardware address ${entry.mac} for ${other}, and the device there has ${mac}`);
  const way = here.tunnelEntries?.find((each) => each.link === device.name && each.mac === entry.mac);
  if (way === undefined) return said(`has no forwarding entry (FDB) for ${entry.mac}, the device of ${other}`);
  if (way.to !== address) return said(`sends packets for ${other} to ${way.to}, and its address is ${address}`);
  return undefined;
}
