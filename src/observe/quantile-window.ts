// Quantiles of what was observed lately, for Prometheus summaries. Values are counted in buckets whose bounds grow by 2 %,
// so any quantile is within 1 % of the truth, an observation of weight 1,000 costs as much as one of weight 1, and memory
// is bounded whatever is observed. (prom-client's own summaries keep every observation in a tree once per age bucket, and
// know no weights.)
//
//   slices, each maxAge/n long:  [ now ][ -1 ][ -2 ] …   a query adds them up; the oldest is thrown away when time passes
const growth = 1.02;
const logGrowth = Math.log(growth);
// From a nanosecond to a century of seconds, or up to 10^10 keys: whatever lies outside counts as the nearest.
const smallest = 1e-9;
const maxBucket = Math.ceil(Math.log(1e10 / smallest) / logGrowth);

export class QuantileWindow {
  readonly #sliceMs: number;
  readonly #slices: Map<number, number>[];
  #sliceStartMs: number;

  constructor(options: { maxAgeMs: number; ageBuckets: number; nowMs: number }) {
    this.#sliceMs = options.maxAgeMs / options.ageBuckets;
    this.#slices = Array.from({ length: options.ageBuckets }, () => new Map());
    this.#sliceStartMs = options.nowMs;
  }

  observe(value: number, times: number, nowMs: number): void {
    this.#age(nowMs);
    const slice = this.#slices[0];
    const bucket = bucketOf(value);
    slice?.set(bucket, (slice.get(bucket) ?? 0) + times);
  }

  /** NaN for each where nothing was observed within the window. */
  quantiles(ranks: readonly number[], nowMs: number): number[] {
    this.#age(nowMs);
    const counts = new Map<number, number>();
    let total = 0;
    for (const slice of this.#slices) {
      for (const [bucket, count] of slice) {
        counts.set(bucket, (counts.get(bucket) ?? 0) + count);
        total += count;
      }
    }
    const sorted = [...counts].sort(([a], [b]) => a - b);
    return ranks.map((rank) => valueAtRank(sorted, rank * total));
  }

  #age(nowMs: number): void {
    const passed = Math.floor((nowMs - this.#sliceStartMs) / this.#sliceMs);
    if (passed <= 0) return;
    for (let i = 0; i < Math.min(passed, this.#slices.length); i++) {
      this.#slices.pop();
      this.#slices.unshift(new Map());
    }
    this.#sliceStartMs += passed * this.#sliceMs;
  }
}

function valueAtRank(sorted: [number, number][], rank: number): number {
  let seen = 0;
  for (const [bucket, count] of sorted) {
    seen += count;
    if (seen >= rank) return middleOf(bucket);
  }
  return Number.NaN;
}

function bucketOf(value: number): number {
  if (!(value > 0)) return -1; // 0, and what a clock that jumps makes of a duration
  return Math.max(0, Math.min(maxBucket, Math.round(Math.log(value / smallest) / logGrowth)));
}

function middleOf(bucket: number): number {
  if (bucket < 0) return 0;
  const value = smallest * growth ** bucket;
  // Counts of keys are whole numbers; showing 99.7 for 100 would only make people ask.
  return value >= 1 ? Math.round(value * 100) / 100 : Number(value.toPrecision(4));
}
