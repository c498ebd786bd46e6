// How full pools and blocks are: what is in use, what is reserved, and what is left. Exact numbers: an IPv6 pool has more
// addresses than a double can count.
import { type AddressRange, holds, sizeOf } from "../../base/lib/index.ts";
import { isReserved, type Reservations } from "./reservations.ts";

/** What must be known of a block. Whoever lists thousands of them reads no more. */
export type BlockUse = { readonly cidr: string; readonly range: AddressRange; readonly unallocated: readonly number[] };
export type PoolUse = { readonly cidr: string; readonly range: AddressRange };

export type Counts = {
  readonly total: bigint;
  /** Those that wait after their release among them. */
  readonly inUse: bigint;
  readonly reserved: bigint;
  /** Neither in use nor reserved. An address can be both, so this is not what the others leave. */
  readonly free: bigint;
};
export type BlockUtilization = Counts & { readonly cidr: string };
export type PoolUtilization = BlockUtilization & { readonly blocks: readonly BlockUtilization[] };
export type Utilization = {
  readonly pools: readonly PoolUtilization[];
  /** In no pool. */
  readonly orphans: readonly BlockUtilization[];
};

/** Pools and blocks stay in their order. */
export function utilizationOf(
  pools: readonly PoolUse[],
  blocks: readonly BlockUse[],
  reservations: Reservations,
): Utilization {
  const blocksOf = pools.map((): BlockUtilization[] => []);
  const orphans: BlockUtilization[] = [];
  for (const block of blocks) {
    const pool = pools.findIndex(({ range }) => holds(range, block.range));
    (blocksOf[pool] ?? orphans).push(blockCounts(block, reservations));
  }
  return {
    pools: pools.map((pool, at) => poolCounts(pool, blocksOf[at] ?? [], reservations)),
    orphans,
  };
}

function blockCounts({ cidr, range, unallocated }: BlockUse, reservations: Reservations): BlockUtilization {
  const total = sizeOf(range);
  const touching = reservations.filter((each) => holds(each, range) || holds(range, each));
  const { family } = range;
  const single = family === 4 ? 32 : 128;
  const free =
    touching.length === 0
      ? unallocated.length
      : unallocated.filter(
          (ordinal) => !isReserved(touching, { family, first: range.first + BigInt(ordinal), prefixLength: single }),
        ).length;
  const inUse = total - BigInt(unallocated.length);
  return { cidr, total, inUse, reserved: reservedIn(range, touching), free: BigInt(free) };
}

function poolCounts(
  { cidr, range }: PoolUse,
  blocks: readonly BlockUtilization[],
  reservations: Reservations,
): PoolUtilization {
  const total = sizeOf(range);
  const reserved = reservedIn(range, reservations);
  const inUse = sum(blocks.map((block) => block.inUse));
  // Of each block: in use and reserved at once are those that neither `free` nor one of the two alone accounts for.
  const both = sum(blocks.map((block) => block.inUse + block.reserved + block.free - block.total));
  return { cidr, total, inUse, reserved, free: total - reserved - inUse + both, blocks };
}

/** Reservations may lie in each other; each address counts once. */
function reservedIn(range: AddressRange, reservations: Reservations): bigint {
  if (reservations.some((each) => holds(each, range))) return sizeOf(range);
  const inside = reservations.filter((each) => holds(range, each));
  const outermost = inside.filter((each, at) =>
    inside.every((other, place) => place === at || !holds(other, each) || (holds(each, other) && place > at)),
  );
  return sum(outermost.map(sizeOf));
}

function sum(numbers: readonly bigint[]): bigint {
  return numbers.reduce((total, number) => total + number, 0n);
}
