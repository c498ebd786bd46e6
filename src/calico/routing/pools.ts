// How the addresses of a pool are reached on other nodes.
import { type AddressRange, holds, isRecord, parseRange } from "../../base/lib/index.ts";

/** `none`: of its addresses no workload has one. */
export type PoolWay = "plain" | "vxlan" | "ipip" | "none";

export type PoolFacts = {
  readonly range: AddressRange;
  readonly way: PoolWay;
  /** Within our own subnet packets go as they are. */
  readonly isCrossSubnet: boolean;
  /** The BGP daemons do not tell each other of it. */
  readonly isKeptFromBgp: boolean;
};

const prefix = "/calico/v1/ipam/v";

/** The pool's network as it stands in the key; undefined: the key is of something else. */
export function poolOfPath(path: string): string | undefined {
  if (!path.startsWith(prefix)) return undefined;
  const [, name] = /^[46]\/pool\/([^/]+)$/.exec(path.slice(prefix.length)) ?? [];
  return name?.replace("-", "/");
}

/** A disabled pool is like any other: it gives no new addresses, but those given are reached. Undefined: makes no sense. */
export function readPool(value: unknown): PoolFacts | undefined {
  if (!isRecord(value) || typeof value.cidr !== "string") return undefined;
  const range = parseRange(value.cidr);
  if (range === undefined) return undefined;
  const { vxlan_mode: vxlan, ipip_mode: ipip, allowed_uses: uses } = value;
  const isForServices = Array.isArray(uses) && uses.length === 1 && uses[0] === "LoadBalancer";
  const way = isForServices ? "none" : isOn(vxlan) ? "vxlan" : isOn(ipip) && range.family === 4 ? "ipip" : "plain";
  const isCrossSubnet = vxlan === "cross-subnet" || ipip === "cross-subnet";
  return { range, way, isCrossSubnet, isKeptFromBgp: value.disableBGPExport === true };
}

/** The smallest pool around it. */
export function poolOf(pools: Iterable<PoolFacts>, range: AddressRange): PoolFacts | undefined {
  let best: PoolFacts | undefined;
  for (const pool of pools) {
    if ((best === undefined || pool.range.prefixLength > best.range.prefixLength) && holds(pool.range, range)) {
      best = pool;
    }
  }
  return best;
}

export function isEncapsulated(pools: Iterable<PoolFacts>, way: "vxlan" | "ipip", family: 4 | 6): boolean {
  for (const pool of pools) if (pool.way === way && pool.range.family === family) return true;
  return false;
}

function isOn(mode: unknown): boolean {
  return typeof mode === "string" && mode !== "" && mode !== "never";
}
