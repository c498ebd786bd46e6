// Quantiles of what was observed lately, for Prometheus summaries. Values are counted in buckets whose bounds grow by 1 %,
// and each bucket is shown as the first value that fell into it, so a quantile is one that was really observed (a message
// of 100 keys is 100, and not the middle of a bucket) and within 1 % of the truth. An observation of weight 1,000 costs as
// much as one of weight 1, and memory is bounded whatever is observed. (prom-client's own summaries keep every observation
// in a tree once per age bucket, and know no weights.)
//
//   slices, each maxAge/n long:  [ now ][ -1 ][ -2 ] …   a query adds them up; the oldest is thrown away when time passes
const growth = 1.01;
const logGrowth = Math.log(growth);
// From a nanosecond to a century of seconds, or up to 10^10 keys: whatever lies outside counts as the nearest.
const smallest = 1e-9;
const maxBucket = Math.ceil(Math.log(1e10 / smallest) / logGrowth);
const none = -1;

type Bucket = { readonly value: number; count: number };

export class QuantileWindow {
  readonly #sliceMs: number;
  readonly #slices: Map<number, Bucket>[];
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
    const known = slice?.get(bucket);
    if (known === undefined) slice?.set(bucket, { value: bucket === none ? 0 : value, count: times });
    else known.count += times;
  }

  /** NaN for each where nothing was observed within the window. */
  quantiles(ranks: readonly number[], nowMs: number): number[] {
    this.#age(nowMs);
    const buckets = this.#slices.flatMap((slice) => [...slice.values()]);
    const sorted = buckets.sort((a, b) => a.value - b.value);
    const total = sorted.reduce((sum, { count }) => sum + count, 0);
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

function valueAtRank(sorted: readonly Bucket[], rank: number): number {
  let seen = 0;
  for (const { value, count } of sorted) {
    seen += count;
    if (seen >= rank) return value;
  }
  return Number.NaN;
}

function bucketOf(value: number): number {
  if (!(value > 0)) return none; // 0, and what a clock that jumps makes of a duration
  return Math.max(0, Math.min(maxBucket, Math.round(Math.log(value / smallest) / logGrowth)));
}
