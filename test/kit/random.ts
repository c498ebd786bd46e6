// Random numbers that a seed brings back: a failing case is named by its seed and its number.
export type Random = {
  /** At least 0, below 1. */
  next(): number;
  /** A whole number from 0 up to, but not including, `limit`. */
  below(limit: number): number;
  isOneIn(chances: number): boolean;
  pick<T>(items: readonly T[]): T;
};

export function seededRandom(seed: number): Random {
  // Tommy Ettinger's mulberry32: 32 bits of state are plenty for tests.
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    isOneIn: (chances) => below(chances) === 0,
    pick: (items) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error("nothing to pick from");
      return item;
    },
  };
}

/** A new one in each run, or CATTAIL_SEED: what a failing test prints brings its cases back. */
export function testSeed(): number {
  return Number(process.env.CATTAIL_SEED ?? Math.floor(Math.random() * 2 ** 31));
}
