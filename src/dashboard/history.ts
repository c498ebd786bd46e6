// The last quarter of an hour, one sample every five seconds, in a ring of fixed size.
import type { HistoryView } from "./contract.ts";

export type Sample = {
  readonly atMs: number;
  readonly updatesTotal: number;
  readonly deliveryP50Ms: number | null;
  readonly deliveryP99Ms: number | null;
};

export const sampleIntervalMs = 5000;
const capacity = 180;

export class History {
  readonly #samples: Sample[] = [];

  add(sample: Sample): void {
    this.#samples.push(sample);
    if (this.#samples.length > capacity + 1) this.#samples.shift();
  }

  view(): HistoryView {
    const view: HistoryView = { timesMs: [], updatesPerSecond: [], deliveryP50Ms: [], deliveryP99Ms: [] };
    // A rate needs two readings of the counter, so the first sample only starts it.
    for (let index = 1; index < this.#samples.length; index++) {
      const before = this.#samples[index - 1];
      const sample = this.#samples[index];
      if (before === undefined || sample === undefined) continue;
      const seconds = (sample.atMs - before.atMs) / 1000;
      view.timesMs.push(sample.atMs);
      view.updatesPerSecond.push(seconds > 0 ? (sample.updatesTotal - before.updatesTotal) / seconds : 0);
      view.deliveryP50Ms.push(sample.deliveryP50Ms);
      view.deliveryP99Ms.push(sample.deliveryP99Ms);
    }
    return view;
  }
}
