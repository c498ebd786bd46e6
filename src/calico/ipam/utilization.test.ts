import { deepEqual, equal } from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { type AddressRange, addressText, parseRange, rangeText, sizeOf } from "../../base/lib/index.ts";
import { isReserved } from "./reservations.ts";
import { type BlockUse, utilizationOf } from "./utilization.ts";

const rangeOf = (cidr: string): AddressRange => {
  const range = parseRange(cidr);
  if (range === undefined) throw new RangeError(cidr);
  return range;
};
const pool = (cidr: string) => ({ cidr, range: rangeOf(cidr) });
/** All ordinals but those in use are free. */
const block = (cidr: string, used: readonly number[]): BlockUse => {
  const range = rangeOf(cidr);
  const all = Array.from({ length: Number(sizeOf(range)) }, (_, ordinal) => ordinal);
  return { cidr, range, unallocated: all.filter((ordinal) => !used.includes(ordinal)) };
};

const cases: {
  name: string;
  pools: string[];
  blocks: BlockUse[];
  reserved: string[];
  /** total, in use, reserved, free */
  counts: { [cidr: string]: [bigint, bigint, bigint, bigint] };
}[] = [
  {
    name: "a pool without blocks is free",
    pools: ["10.65.0.0/16"],
    blocks: [],
    reserved: [],
    counts: { "10.65.0.0/16": [65536n, 0n, 0n, 65536n] },
  },
  {
    name: "what is in use and what is reserved is not free",
    pools: ["10.1.0.0/28"],
    blocks: [block("10.1.0.4/30", [0, 1])],
    reserved: ["10.1.0.0/30"],
    counts: { "10.1.0.0/28": [16n, 2n, 4n, 10n], "10.1.0.4/30": [4n, 2n, 0n, 2n] },
  },
  {
    name: "an address that is reserved and in use is missing once",
    pools: ["10.1.0.0/28"],
    blocks: [block("10.1.0.0/30", [0, 1])],
    reserved: ["10.1.0.1/32"],
    counts: { "10.1.0.0/28": [16n, 2n, 1n, 14n], "10.1.0.0/30": [4n, 2n, 1n, 2n] },
  },
  {
    name: "reservations inside each other, and given twice, count once",
    pools: ["10.1.0.0/24"],
    blocks: [],
    reserved: ["10.1.0.0/26", "10.1.0.8/29", "10.1.0.0/26"],
    counts: { "10.1.0.0/24": [256n, 0n, 64n, 192n] },
  },
  {
    name: "a reservation around a pool takes all of it",
    pools: ["10.1.0.0/24"],
    blocks: [block("10.1.0.0/26", [3])],
    reserved: ["10.0.0.0/8"],
    counts: { "10.1.0.0/24": [256n, 1n, 256n, 0n], "10.1.0.0/26": [64n, 1n, 64n, 0n] },
  },
  {
    name: "a block in no pool is told by itself",
    pools: ["10.1.0.0/24"],
    blocks: [block("10.2.0.0/26", [3])],
    reserved: [],
    counts: { "10.1.0.0/24": [256n, 0n, 0n, 256n], "10.2.0.0/26": [64n, 1n, 0n, 63n] },
  },
  {
    name: "IPv6 pools are counted exactly",
    pools: ["fd00:65::/64"],
    blocks: [block("fd00:65::/122", [1])],
    reserved: ["fd00:65::/128"],
    counts: { "fd00:65::/64": [2n ** 64n, 1n, 1n, 2n ** 64n - 2n], "fd00:65::/122": [64n, 1n, 1n, 62n] },
  },
];
for (const { name, pools, blocks, reserved, counts } of cases) {
  test(`utilization: ${name}`, () => {
    const { pools: inPools, orphans } = utilizationOf(pools.map(pool), blocks, reserved.map(rangeOf));
    const all = [...inPools.flatMap((each) => [each, ...each.blocks]), ...orphans];
    const seen = all.map(({ cidr, total, inUse, reserved, free }) => [cidr, [total, inUse, reserved, free]]);
    deepEqual(Object.fromEntries(seen), counts);
  });
}

test("utilization: for any blocks and reservations, a pool's numbers are those of its addresses counted one by one", () => {
  const ordinals = fc.subarray(Array.from({ length: 8 }, (_, at) => at));
  const reservation = fc.record({ at: fc.nat(63), length: fc.integer({ min: 26, max: 32 }) });
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.record({ at: fc.nat(7), used: ordinals }), { selector: ({ at }) => at }),
      fc.array(reservation, { maxLength: 6 }),
      (held, reservedAt) => {
        const blocks = held.map(({ at, used }) => block(`10.0.0.${at * 8}/29`, used));
        const reservations = reservedAt.map(({ at, length }) => rangeOf(rangeText(rangeOf(`10.0.0.${at}/${length}`))));
        const used = new Set(held.flatMap((each) => each.used.map((ordinal) => each.at * 8 + ordinal)));
        let [reserved, free] = [0n, 0n];
        for (let at = 0; at < 64; at += 1) {
          const isKept = isReserved(reservations, rangeOf(addressText(4, rangeOf("10.0.0.0").first + BigInt(at))));
          if (isKept) reserved += 1n;
          if (!isKept && !used.has(at)) free += 1n;
        }
        const [counted] = utilizationOf([pool("10.0.0.0/26")], blocks, reservations).pools;
        equal(counted?.inUse, BigInt(used.size));
        equal(counted?.reserved, reserved);
        equal(counted?.free, free);
      },
    ),
  );
});
