// Random numbers from a seed, so that every failure can be had again.
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0 || 1;
  }

  /** 0 to 2^32 - 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  }

  /** 0 to bound - 1. */
  below(bound: number): number {
    return this.next() % bound;
  }

  isOneIn(chances: number): boolean {
    return this.below(chances) === 0;
  }

  pick<T>(list: readonly T[]): T {
    const item = list[this.below(list.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }
}
