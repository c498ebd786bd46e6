// What several checks ask about addresses, pools and ways.
import { addressText, holds, parseAddress, parseRange } from "../../base/lib/index.ts";
import type { ClusterFacts, Encapsulation, HostFacts, NodeFact, PoolFact } from "./facts.ts";

/** `172.31.0.11` of `172.31.0.11/24`. */
export function bare(address: string): string {
  return address.replace(/\/\d+$/, "");
}

/** An address or a network as the kernel writes it, so that equal ones are equal texts; what is neither stays as it is. */
export function canonical(text: string): string {
  const [start = "", ...length] = text.split("/");
  const read = parseAddress(start);
  return read === undefined ? text : [addressText(read.family, read.address), ...length].join("/");
}

export function isIn(address: string, network: string): boolean {
  const [inner, outer] = [parseRange(address), parseRange(network)];
  return inner !== undefined && outer !== undefined && holds(outer, inner);
}

export function overlap(one: string, other: string): boolean {
  return isIn(one, other) || isIn(other, one);
}

/** The smallest that contains it. */
export function poolOf(address: string, pools: readonly PoolFact[]): PoolFact | undefined {
  const length = ({ cidr }: PoolFact) => parseRange(cidr)?.prefixLength ?? 0;
  return pools.filter(({ cidr }) => isIn(address, cidr)).sort((a, b) => length(b) - length(a))[0];
}

export function nodeNamed(name: string | undefined, { nodes }: ClusterFacts): NodeFact | undefined {
  return nodes.find((each) => each.name === name);
}

/** As the nodes themselves decide it: the one's network contains the other's address. */
export function isSameSubnet(one: NodeFact, other: NodeFact): boolean {
  return one.address !== undefined && other.address !== undefined && isIn(bare(other.address), one.address);
}

export type Way = "plain" | "vxlan" | "ipip";

export function wayBetween(one: NodeFact, other: NodeFact, pool: PoolFact): Way {
  const applies = (mode: Encapsulation) => mode === "Always" || (mode === "CrossSubnet" && !isSameSubnet(one, other));
  return applies(pool.vxlan) ? "vxlan" : applies(pool.ipip) ? "ipip" : "plain";
}

/** Both agents make the device as soon as a pool asks for it: where there is none, the kernel has no such devices. */
export function hasNoIpip({ links }: HostFacts): boolean {
  return !links.some(({ kind }) => kind === "ipip");
}

/** Nodes that share an address, by it. */
export function duplicates({ nodes }: ClusterFacts): Map<string, string[]> {
  const byAddress = new Map<string, string[]>();
  for (const { name, address } of nodes)
    if (address !== undefined) byAddress.set(bare(address), [...(byAddress.get(bare(address)) ?? []), name]);
  return new Map([...byAddress].filter(([, names]) => names.length > 1));
}
