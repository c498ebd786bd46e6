// How full pools and blocks are, as `ipam show` prints it.

import type { BlockUtilization, Utilization } from "../../../../calico/ipam/index.ts";
import { boxTable } from "../../box-table.ts";

const right = { align: "right" } as const;
const columns = [
  { heading: "GROUPING" },
  { heading: "CIDR" },
  { heading: "IPS TOTAL", ...right },
  { heading: "IPS IN USE", ...right },
  { heading: "IPS RESERVED", ...right },
  { heading: "IPS FREE", ...right },
];

/** With blocks, each after its pool, and those that lie in none at the end. */
export function usageTable({ pools, orphans }: Utilization, { withBlocks }: { readonly withBlocks: boolean }): string {
  const rows = pools.flatMap((pool) => [
    usageRow("IP Pool", pool),
    ...(withBlocks ? pool.blocks.map((block) => usageRow("Block", block)) : []),
  ]);
  const lost = withBlocks ? orphans.map((block) => usageRow("Block", block)) : [];
  return boxTable(columns, [...rows, ...lost]);
}

function usageRow(grouping: string, { cidr, total, inUse, reserved, free }: BlockUtilization): string[] {
  const share = (part: bigint) => `${fiveDigits(countable(part))} (${percent(countable(part), countable(total))}%)`;
  return [grouping, cidr, fiveDigits(countable(total)), share(inUse), share(reserved), share(free)];
}

/** The original counts in 64 bits, and scripts know its numbers: an IPv6 pool has 9.2234e+18 addresses or fewer. */
const most = 2n ** 63n - 1n;

function countable(count: bigint): number {
  return Number(count > most ? most : count);
}

/** As Go's %.5g writes a count: 65536, 8.3886e+06. */
export function fiveDigits(count: number): string {
  if (Number.isInteger(count) && count < 100_000) return String(count); // which nearly all are
  const [digits = "", exponent] = count.toPrecision(5).split("e");
  const short = digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits;
  if (exponent === undefined) return short;
  return `${short}e${exponent.slice(0, 1)}${exponent.slice(1).padStart(2, "0")}`;
}

/** To the nearest whole; of two that are as near, the even one, as Go does. */
export function percent(part: number, whole: number): number {
  const exact = (100 * part) / whole;
  const below = Math.floor(exact);
  if (exact - below !== 0.5) return Math.round(exact);
  return below % 2 === 0 ? below : below + 1;
}
