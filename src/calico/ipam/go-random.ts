// The additive lagged Fibonacci generator of Go's math/rand, and how its big integers draw a number below a limit. Which block a
// node takes first is drawn with it, so that our nodes choose what the original's nodes would. Checked by
// test/vectors/ipam/go-rand-streams.json.
import { goRandomTable } from "./go-random-table.gen.ts";

const length = 607;
const firstFeed = 334;
const modulus = 2 ** 31 - 1;

/** The next 32 random bits. */
export type Random32 = () => bigint;

export function goRandom(seed: bigint): Random32 {
  const state = seededState(seed);
  let tap = 0;
  let feed = firstFeed;
  return () => {
    tap = (tap + length - 1) % length;
    feed = (feed + length - 1) % length;
    const word = BigInt.asUintN(64, (state[feed] ?? 0n) + (state[tap] ?? 0n));
    state[feed] = word;
    return BigInt.asUintN(32, word >> 31n);
  };
}

/** A number from 0 up to, and without, the limit. Go masks to the limit's bit length, so a power of two misses half of its draws. */
export function drawBelow(limit: bigint, random: Random32): bigint {
  const bits = limit.toString(2).length;
  const words = Math.ceil(bits / 64);
  for (;;) {
    let drawn = 0n;
    for (let word = 0; word < words; word += 1) {
      const low = random();
      drawn |= (low | (random() << 32n)) << BigInt(word * 64);
    }
    const number = BigInt.asUintN(bits, drawn);
    if (number < limit) return number;
  }
}

function seededState(seed: bigint): BigUint64Array {
  // Go's remainder has the sign of the seed; a negative one is lifted.
  const rest = Number(seed % BigInt(modulus));
  const lifted = rest < 0 ? rest + modulus : rest;
  let x = lifted === 0 ? 89482311 : lifted;
  for (let turn = 0; turn < 20; turn += 1) x = nextSeed(x);
  const state = new BigUint64Array(length);
  for (const [at, constant] of goRandomTable.entries()) {
    const a = nextSeed(x);
    const b = nextSeed(a);
    x = nextSeed(b);
    state[at] = (BigInt(a) << 40n) ^ (BigInt(b) << 20n) ^ BigInt(x) ^ constant;
  }
  return state;
}

/** 48271 x mod 2^31 - 1, without leaving 32 bits. */
function nextSeed(x: number): number {
  const next = 48271 * (x % 44488) - 3399 * Math.floor(x / 44488);
  return next < 0 ? next + modulus : next;
}
