// Random numbers that a seed repeats.
export type Random = {
  /** At least 0, below 1. */
  next(): number;
  /** A whole number at least 0, below the bound. */
  below(bound: number): number;
  pick<T>(from: readonly T[]): T;
};

export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  // Tommy Ettinger's mulberry32: 32 bits of state, enough for choosing faults.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    below: (bound) => Math.floor(next() * bound),
    pick: (from) => {
      const index = Math.floor(next() * from.length);
      if (from.length === 0) throw new Error("nothing to pick from");
      return from[index] as (typeof from)[number]; // in range by construction
    },
  };
}
