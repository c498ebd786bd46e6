// Which block a node claims next, from a list of all blocks. Pools are walked in their order, each in the node's order of
// blocks. Only when no pool has one left, blocks that stand empty are taken over, and last, others' blocks are borrowed from.
import { type AddressRange, rangeText } from "../../../base/lib/index.ts";
import { type Block, freeOrdinals, isEmpty } from "../block.ts";
import { type BlockSource, blockAt, blocksInOrder, firstIndex, numberOfBlocks, type OrderOf } from "../block-order.ts";
import { isReserved, type Reservations } from "../reservations.ts";

export type Search = {
  readonly pools: readonly BlockSource[];
  /** All that exist, swept. */
  readonly blocks: readonly Block[];
  readonly reservations: Reservations;
  readonly order: OrderOf;
  readonly owner: string;
  readonly nowNs: bigint;
};

export type FoundBlock =
  | { readonly is: "claim"; readonly range: AddressRange }
  /** In the order in which they are to be tried. */
  | { readonly is: "take-over"; readonly blocks: readonly Block[] };

/** A pool may have 2^74 blocks, and a reservation nearly all of them. */
const mostReserved = 100_000;
const youngNs = 60_000_000_000n;

export function findBlock(search: Search): FoundBlock {
  const { pools, reservations, order } = search;
  const known = new Map(search.blocks.map((block) => [rangeText(block.range), block]));
  const empty: Block[] = [];
  for (const pool of pools.filter(({ range }) => !isReserved(reservations, range))) {
    let reserved = 0;
    for (const range of blocksInOrder(pool, order)) {
      if (isReserved(reservations, range)) {
        reserved += 1;
        if (reserved > mostReserved) break;
        continue;
      }
      const block = known.get(rangeText(range));
      if (block === undefined) return { is: "claim", range };
      if (freeOrdinals(block, reservations).length === 0) continue;
      if (block.owner === search.owner) return { is: "claim", range };
      if (isEmpty(block)) empty.push(block);
    }
  }
  return { is: "take-over", blocks: empty.filter((block) => !isYoung(block, search.nowNs)) };
}

/** Its owner is about to use it. A block without a time is an old one. */
function isYoung({ claimTime }: Block, nowNs: bigint): boolean {
  return claimTime !== undefined && nowNs - BigInt(Date.parse(claimTime)) * 1_000_000n < youngNs;
}

/** The blocks of one pool that exist, in the node's order, without walking those that do not. */
export function existingInOrder(pool: BlockSource, blocks: readonly Block[], order: OrderOf): Block[] {
  const count = numberOfBlocks(pool);
  const start = firstIndex(pool, order);
  const step = numberOfAddresses(pool);
  return blocks
    .flatMap((block) => {
      const index = (block.range.first - pool.range.first) / step;
      // A block of another size, from a pool that was there before, is none of this pool's.
      if (index < 0n || index >= count || rangeText(blockAt(pool, index)) !== rangeText(block.range)) return [];
      return [{ block, at: (index - start + count) % count }];
    })
    .sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)))
    .map(({ block }) => block);
}

function numberOfAddresses(pool: BlockSource): bigint {
  return 1n << BigInt((pool.range.family === 4 ? 32 : 128) - pool.blockSize);
}
