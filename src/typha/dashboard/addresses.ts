// How addresses are used: pools, the blocks in them, whose they are and how full; and addresses that are held for a pod which is not there.
// From the felix data set alone, so it shows what the nodes were told. `cattail ctl ipam check` looks further (handles, affinities), and mends.
import { addressText, holds, isRecord, type JsonRecord, parseJson, parseRange, sizeOf } from "../../base/lib/index.ts";
import type { AddressesView, BlockView, HeldInVain, PoolView } from "./contract.ts";
import type { FelixKeys } from "./endpoint-policies.ts";

/** So that a page of ten thousand blocks is still one that a browser shows. */
const mostRows = 500;

export function addressesView(keys: FelixKeys): Omit<AddressesView, "audits"> {
  const pools = [...keys.withPrefix("/calico/v1/ipam/")].flatMap(({ value }) => poolOf(value));
  const workloads = workloadAddresses(keys);
  const inVain: HeldInVain[] = [];
  const blocks = [...keys.withPrefix("/calico/ipam/v2/assignment/")].flatMap(({ path, value }) => {
    const block = record(value);
    if (block === undefined) return [];
    inVain.push(...heldInVain(block, workloads));
    return [blockView(path, block)];
  });
  return {
    pools: pools.map((pool) => withUse(pool, blocks)),
    blocks: blocks.toSorted((a, b) => b.used / b.size - a.used / a.size).slice(0, mostRows),
    blockTotal: blocks.length,
    inVain: inVain.slice(0, mostRows),
    inVainTotal: inVain.length,
  };
}

function poolOf(value: string): PoolView[] {
  const pool = record(value);
  if (pool === undefined || typeof pool.cidr !== "string") return [];
  const range = parseRange(pool.cidr);
  if (range === undefined) return [];
  const mode = (name: unknown) => (typeof name === "string" && name !== "" && name !== "never" ? name : "");
  const vxlan = mode(pool.vxlan_mode);
  const ipip = mode(pool.ipip_mode);
  const wrapped = vxlan !== "" ? `VXLAN ${vxlan}` : ipip !== "" ? `IPIP ${ipip}` : "none";
  return [
    {
      cidr: pool.cidr,
      encapsulation: wrapped,
      isDisabled: pool.disabled === true,
      natOutgoing: pool.masquerade === true,
      size: sizeOf(range).toString(),
      blocks: 0,
      used: 0,
    },
  ];
}

function withUse(pool: PoolView, blocks: readonly BlockView[]): PoolView {
  const range = parseRange(pool.cidr);
  const own = blocks.filter(({ cidr }) => {
    const block = parseRange(cidr);
    return range !== undefined && block !== undefined && holds(range, block);
  });
  return { ...pool, blocks: own.length, used: own.reduce((sum, { used }) => sum + used, 0) };
}

function blockView(path: string, block: JsonRecord): BlockView {
  const slots = Array.isArray(block.allocations) ? block.allocations : [];
  const affinity = typeof block.affinity === "string" ? block.affinity : "";
  return {
    path,
    cidr: typeof block.cidr === "string" ? block.cidr : "",
    node: affinity.startsWith("host:") ? affinity.slice("host:".length) : affinity === "" ? null : affinity,
    size: slots.length,
    used: slots.filter((slot) => slot !== null).length,
  };
}

/** Addresses whose attributes name a pod, where no endpoint has the address. A pod that is just being made is among them for a moment. */
function heldInVain(block: JsonRecord, workloads: ReadonlySet<string>): HeldInVain[] {
  const range = typeof block.cidr === "string" ? parseRange(block.cidr) : undefined;
  if (range === undefined || !Array.isArray(block.allocations) || !Array.isArray(block.attributes)) return [];
  const { attributes } = block;
  return block.allocations.flatMap((slot: unknown, ordinal: number) => {
    const held: unknown = slot === null ? undefined : attributes[Number(slot)];
    const owner = isRecord(held) && isRecord(held.secondary) ? held.secondary : undefined;
    if (owner === undefined || typeof owner.pod !== "string" || typeof owner.namespace !== "string") return [];
    const first = range.first + BigInt(ordinal);
    const text = addressText(range.family, first);
    if (workloads.has(text)) return [];
    return [
      { address: text, pod: `${owner.namespace}/${owner.pod}`, node: typeof owner.node === "string" ? owner.node : "" },
    ];
  });
}

function workloadAddresses(keys: FelixKeys): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { path, value } of keys.withPrefix("/calico/v1/host/")) {
    if (!path.includes("/workload/")) continue;
    const endpoint = record(value);
    for (const nets of [endpoint?.ipv4_nets, endpoint?.ipv6_nets])
      for (const net of Array.isArray(nets) ? nets : []) {
        const range = typeof net === "string" ? parseRange(net) : undefined;
        if (range !== undefined) found.add(addressText(range.family, range.first));
      }
  }
  return found;
}

function record(text: string): JsonRecord | undefined {
  try {
    const value = parseJson(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined; // what is not JSON is no pool and no block; the page of its key shows it
  }
}
