// The original's order of blocks, by its vectors, and what holds for any pool.
import { deepEqual, equal } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import {
  type AddressRange,
  addressText,
  holds,
  parseAddress,
  parseRange,
  rangeText,
  sizeOf,
} from "../../base/lib/index.ts";
import {
  type BlockSource,
  blockAt,
  blockOf,
  blocksInOrder,
  firstIndex,
  numberOfBlocks,
  seedOfName,
} from "./block-order.ts";
import { drawBelow, goRandom } from "./go-random.ts";

type OrderVector = {
  hostname: string;
  pool: string;
  blockSize: number;
  seed: number;
  numBlocks: string;
  firstIndex: string;
  blocks: string[];
};
type Stream = { seed: number; uint32: string[] };
const vectors = <T>(name: string): T[] => JSON.parse(readFileSync(`test/vectors/ipam/${name}.json`, "utf8"));
const orders = vectors<OrderVector>("block-order");
const streams = vectors<Stream>("go-rand-streams");

function range(text: string): AddressRange {
  const found = parseRange(text);
  if (found === undefined) throw new Error(`${text} is no range`);
  return found;
}

test("the vectors were found", () => deepEqual([orders.length, streams.length], [82, 10]));

for (const { seed, uint32 } of streams) {
  test(`the generator with seed ${seed} puts out what Go's does`, () => {
    const random = goRandom(BigInt(seed));
    deepEqual(
      uint32.map(() => random().toString(16).padStart(8, "0")),
      uint32,
    );
  });
}

for (const vector of orders) {
  test(`${vector.hostname} walks ${vector.pool} in blocks of /${vector.blockSize} as the original does`, () => {
    const pool = { range: range(vector.pool), blockSize: vector.blockSize };
    const order = { node: vector.hostname, randomSeed: 0n };
    equal(seedOfName(vector.hostname), vector.seed);
    equal(String(numberOfBlocks(pool)), vector.numBlocks);
    equal(String(firstIndex(pool, order)), vector.firstIndex);
    deepEqual([...blocksInOrder(pool, order).take(vector.blocks.length).map(rangeText)], vector.blocks);
  });
}

// A cluster that is known: the nodes of one installation, and the blocks they were seen with.
const seen: { node: string; pool: string; block: string }[] = [
  { node: "cka002", pool: "10.244.0.0/18", block: "10.244.31.0/26" },
  { node: "cka003", pool: "10.244.0.0/18", block: "10.244.28.64/26" },
  { node: "cka003", pool: "10.244.192.0/19", block: "10.244.203.192/26" },
];
for (const { node, pool, block } of seen) {
  test(`${node} begins ${pool} with ${block}`, () => {
    const [first] = blocksInOrder({ range: range(pool), blockSize: 26 }, { node, randomSeed: 0n });
    equal(first === undefined ? "" : rangeText(first), block);
  });
}

test("blocks of one address are walked in an order that the seed decides, not the name", () => {
  const pool = { range: range("10.0.0.0/24"), blockSize: 32 };
  const starts = (node: string) => [1n, 2n, 3n, 4n].map((randomSeed) => firstIndex(pool, { node, randomSeed }));
  deepEqual(starts("a"), starts("b"));
  equal(new Set(starts("a")).size > 1, true);
});

test("a pool that is smaller than its blocks has none", () => {
  const pool = { range: range("10.0.0.0/28"), blockSize: 26 };
  deepEqual([...blocksInOrder(pool, { node: "a", randomSeed: 0n })], []);
  equal(blockOf(pool, range("10.0.0.1")), undefined);
});

const cases: { address: string; pool: string; blockSize: number; block: string | undefined }[] = [
  { address: "10.244.31.5", pool: "10.244.0.0/18", blockSize: 26, block: "10.244.31.0/26" },
  { address: "10.244.63.255", pool: "10.244.0.0/18", blockSize: 26, block: "10.244.63.192/26" },
  { address: "10.244.64.0", pool: "10.244.0.0/18", blockSize: 26, block: undefined },
  { address: "fd00::ff", pool: "fd00::/64", blockSize: 122, block: "fd00::c0/122" },
  { address: "fd00::ff", pool: "10.0.0.0/8", blockSize: 26, block: undefined },
  { address: "10.0.0.7", pool: "10.0.0.0/29", blockSize: 32, block: "10.0.0.7/32" },
];
for (const { address, pool, blockSize, block } of cases) {
  test(`${address} is in ${block ?? "no block"} of ${pool}`, () => {
    const found = blockOf({ range: range(pool), blockSize }, range(address));
    equal(found === undefined ? undefined : rangeText(found), block);
  });
}

const anyPool: fc.Arbitrary<BlockSource> = fc
  .record({
    family: fc.constantFrom<4 | 6>(4, 6),
    address: fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }),
    poolBits: fc.integer({ min: 0, max: 9 }),
    blockBits: fc.integer({ min: 0, max: 8 }),
  })
  .map(({ family, address, poolBits, blockBits }) => {
    const bits = family === 4 ? 32 : 128;
    const prefixLength = bits - poolBits - blockBits;
    const first = (BigInt.asUintN(bits, address) >> BigInt(poolBits + blockBits)) << BigInt(poolBits + blockBits);
    return { range: { family, first, prefixLength }, blockSize: bits - blockBits };
  });

test("for any pool: every block once, all of them inside, together the whole pool", () => {
  fc.assert(
    fc.property(anyPool, fc.string(), fc.bigInt({ min: 0n, max: 2n ** 63n }), (pool, node, randomSeed) => {
      const blocks = [...blocksInOrder(pool, { node, randomSeed })];
      equal(new Set(blocks.map(rangeText)).size, blocks.length);
      equal(
        blocks.every((block) => holds(pool.range, block)),
        true,
      );
      equal(
        blocks.reduce((sum, block) => sum + sizeOf(block), 0n),
        sizeOf(pool.range),
      );
      deepEqual(blockOf(pool, blockAt(pool, 0n)), blockAt(pool, 0n));
    }),
    { numRuns: 60 },
  );
});

test("for any number of bits: a draw is below its limit", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 2n ** 130n }),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n }),
      (limit, seed) => {
        const drawn = drawBelow(limit, goRandom(seed));
        equal(drawn >= 0n && drawn < limit, true);
      },
    ),
    { numRuns: 60 },
  );
});

test("for any range: its text is read back as it was", () => {
  fc.assert(
    fc.property(anyPool, ({ range: given }) => {
      deepEqual(parseRange(rangeText(given)), given);
      deepEqual(parseAddress(addressText(given.family, given.first)), { family: given.family, address: given.first });
    }),
  );
});
