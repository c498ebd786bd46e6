// The blocks of a pool, and in which order a node tries them. They are numbered from the pool's start; a node begins at an index
// that is drawn from its name, and goes up by one, around the end, each block once. All vectors of the original's order:
// test/vectors/ipam/block-order.json.
import { type AddressRange, aroundOf, bitsOf, type Family, holds } from "../../base/lib/index.ts";
import { drawBelow, goRandom } from "./go-random.ts";

/** A pool as far as its blocks go. */
export type BlockSource = { readonly range: AddressRange; readonly blockSize: number };

/** Who asks. Where a block is one address, the order is random: its seed is the time in nanoseconds, or any other number. */
export type OrderOf = { readonly node: string; readonly randomSeed: bigint };

export const defaultBlockSize = (family: Family): number => (family === 4 ? 26 : 122);

/** None where a pool is smaller than its blocks. */
export function numberOfBlocks({ range, blockSize }: BlockSource): bigint {
  return blockSize < range.prefixLength ? 0n : 1n << BigInt(blockSize - range.prefixLength);
}

export function blockAt({ range, blockSize }: BlockSource, index: bigint): AddressRange {
  const step = 1n << BigInt(bitsOf(range.family) - blockSize);
  return { family: range.family, first: range.first + index * step, prefixLength: blockSize };
}

/** The pool's block that the address is in. Undefined: it is not in the pool. */
export function blockOf(pool: BlockSource, address: AddressRange): AddressRange | undefined {
  if (!holds(pool.range, address) || numberOfBlocks(pool) === 0n) return undefined;
  return aroundOf(address, pool.blockSize);
}

/** The first block a node tries. */
export function firstIndex(pool: BlockSource, { node, randomSeed }: OrderOf): bigint {
  const count = numberOfBlocks(pool);
  if (count === 0n) return 0n;
  const isOneAddress = pool.blockSize === bitsOf(pool.range.family);
  return drawBelow(count, goRandom(isOneAddress ? randomSeed : BigInt(seedOfName(node))));
}

/** All blocks of a pool in the node's order. A pool may have 2^74 of them: take as many as are needed. */
export function* blocksInOrder(pool: BlockSource, order: OrderOf): Generator<AddressRange, void> {
  const count = numberOfBlocks(pool);
  const start = firstIndex(pool, order);
  for (let step = 0n; step < count; step += 1n) yield blockAt(pool, (start + step) % count);
}

/** FNV-1, 32 bits. */
export function seedOfName(name: string): number {
  let hash = 2166136261;
  for (const byte of new TextEncoder().encode(name)) hash = (Math.imul(hash, 16777619) ^ byte) >>> 0;
  return hash;
}
