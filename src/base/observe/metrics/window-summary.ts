// A Prometheus summary over a window of time, with weighted observations; prom-client's registry takes it as one of its
// own metrics.
import type { Metric } from "prom-client";
import type { Clock } from "../../lib/index.ts";
import { QuantileWindow } from "./quantile-window.ts";

const ranks = [0.5, 0.9, 0.99];

/** A value that stands for all that were observed, how many these were, and what they add up to. */
export type Observed = { readonly value: number; readonly times: number; readonly sum: number };

type Series = { readonly window: QuantileWindow; sum: number; count: number };

export class WindowSummary {
  readonly #options: { name: string; help: string; label: string | undefined };
  readonly #clock: Clock;
  readonly #series = new Map<string, Series>();

  constructor(options: {
    name: string;
    help: string;
    /** Undefined: it has none, and one series, whose value is "". */
    label: string | undefined;
    values: readonly string[];
    clock: Clock;
    maxAgeMs: number;
    ageBuckets: number;
  }) {
    this.#options = options;
    this.#clock = options.clock;
    const nowMs = options.clock.monotonicMs();
    for (const value of options.values) {
      this.#series.set(value, { window: new QuantileWindow({ ...options, nowMs }), sum: 0, count: 0 });
    }
  }

  observe(labelValue: string, { value, times, sum }: Observed): void {
    const series = this.#series.get(labelValue);
    if (series === undefined || !(times > 0) || Number.isNaN(sum)) return;
    series.window.observe(value, times, this.#clock.monotonicMs());
    series.sum += sum;
    series.count += times;
  }

  asMetric(): Metric {
    const { name, help, label } = this.#options;
    const metric = {
      name,
      help,
      aggregator: "average",
      labelNames: label === undefined ? [] : [label],
      reset: () => undefined,
      get: async () => ({ name, help, type: "summary", aggregator: "average", values: this.#values() }),
    };
    // The registry needs these members and no others; the library's type only names its own classes.
    return metric as unknown as Metric;
  }

  #values(): object[] {
    const { name, label } = this.#options;
    const nowMs = this.#clock.monotonicMs();
    const values: object[] = [];
    for (const [labelValue, { window, sum, count }] of this.#series) {
      const labels = label === undefined ? {} : { [label]: labelValue };
      for (const [at, value] of window.quantiles(ranks, nowMs).entries()) {
        values.push({ labels: { ...labels, quantile: ranks[at] }, value });
      }
      values.push({ metricName: `${name}_sum`, labels, value: sum });
      values.push({ metricName: `${name}_count`, labels, value: count });
    }
    return values;
  }
}
