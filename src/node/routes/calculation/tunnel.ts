// Tunnels as they should be: this node's end, and of VXLAN the far ends that are known.
import type { Family } from "../../../base/lib/index.ts";
import { type NodeFacts, tunnelEndOf } from "../../../calico/routing/index.ts";

export type FarEnd = {
  readonly node: string;
  readonly address: string;
  readonly tunnel: string;
  readonly mac: string;
};

export type TunnelWanted = {
  readonly family: Family;
  readonly local: string;
  readonly mac: string;
  /**
   * Undefined: not given to this node yet. The device is there all the same: others may learn of our address before we do, and what they
   * send must find it.
   */
  readonly address: string | undefined;
  readonly farEnds: readonly FarEnd[];
};

/** Of IP in IP. No address: none was given to this node, and the device does without. */
export type IpipWanted = { readonly address: string | undefined };

export function tunnelOf(family: Family, own: string, nodes: ReadonlyMap<string, NodeFacts>): TunnelWanted | undefined {
  const ours = nodes.get(own)?.[family];
  if (ours === undefined) return undefined;
  const farEnds: FarEnd[] = [];
  for (const [node, facts] of nodes) {
    const end = node === own ? undefined : tunnelEndOf(facts, family);
    if (end !== undefined) farEnds.push({ node, address: end.address, tunnel: end.tunnel, mac: end.mac });
  }
  return { family, local: ours.address, mac: ours.mac, address: ours.tunnel, farEnds };
}
