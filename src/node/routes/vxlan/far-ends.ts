// Where the far ends of a tunnel are: for each a forwarding entry (MAC behind which node) and a neighbour (tunnel address at which MAC).
// Only permanent entries are touched: others are the kernel's, or somebody's who is looking. Pure.
import type { KernelChange, Neighbour } from "../../../base/linux/kernel.ts";
import type { FarEnd } from "../calculation/tunnel.ts";

export type FarEndPlan = {
  readonly writes: readonly KernelChange[];
  readonly deletes: readonly KernelChange[];
  /** Tunnel addresses that nobody has any more, and that routes still lead to. */
  readonly kept: readonly string[];
};

export type FarEndInput = {
  readonly index: number;
  readonly family: "inet" | "inet6";
  readonly wanted: readonly FarEnd[];
  /** Of this device alone. */
  readonly entries: readonly Neighbour[];
  readonly neighbours: readonly Neighbour[];
  /** Whether a route leads to that tunnel address: as long as one does, where it is stays known. */
  readonly isInUse?: (tunnel: string) => boolean;
};

export function planFarEnds({ index, family, wanted, entries, neighbours, isInUse }: FarEndInput): FarEndPlan {
  const writes: KernelChange[] = [];
  const deletes: KernelChange[] = [];
  const macs = new Map<string, string>();
  const tunnels = new Map<string, string>();
  // Two nodes that claim one MAC or one tunnel address: the first by name has it, every time.
  for (const { mac, address, tunnel } of [...wanted].sort((a, b) => (a.node < b.node ? -1 : 1))) {
    if (!macs.has(mac)) macs.set(mac, address);
    if (!tunnels.has(tunnel)) tunnels.set(tunnel, mac);
  }
  const kept = neighbours.flatMap(({ address, mac, states }) =>
    address !== undefined && mac !== undefined && states.includes("permanent") && !tunnels.has(address)
      ? isInUse?.(address) === true
        ? [{ address, mac }]
        : []
      : [],
  );
  const keptMacs = new Set(kept.map(({ mac }) => mac));
  const keptTunnels = new Set(kept.map(({ address }) => address));
  const seenMacs = new Set<string>();
  for (const { mac, address, states } of entries) {
    if (mac === undefined || !states.includes("permanent")) continue;
    if (macs.get(mac) === address) seenMacs.add(mac);
    else if (!macs.has(mac) && keptMacs.has(mac)) continue;
    // Replacing an entry of the same MAC leaves the old far end beside it.
    else deletes.push({ do: "delete", neighbour: { family: "bridge", index, mac, ...(address && { address }) } });
  }
  for (const [mac, address] of macs) {
    if (!seenMacs.has(mac)) writes.push({ do: "replace", neighbour: { family: "bridge", index, mac, address } });
  }
  const seenTunnels = new Set<string>();
  for (const { address, mac, states } of neighbours) {
    if (address === undefined || !states.includes("permanent")) continue;
    if (tunnels.get(address) === mac) seenTunnels.add(address);
    else if (!tunnels.has(address) && !keptTunnels.has(address))
      deletes.push({ do: "delete", neighbour: { family, index, address } });
  }
  for (const [address, mac] of tunnels) {
    if (!seenTunnels.has(address)) writes.push({ do: "replace", neighbour: { family, index, address, mac } });
  }
  return { writes, deletes, kept: [...keptTunnels] };
}
