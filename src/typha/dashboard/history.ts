// The last quarter of an hour, one sample every five seconds, in a ring of fixed size. Rates and spacing come from the
// monotonic clock, and the wall clock only says when the newest was: so times never go back, which no plot could draw.
import type { Clock } from "../../base/lib/index.ts";
import type { HistoryView } from "./contract.ts";

export type Sample = {
  readonly updatesTotal: number;
  readonly deliveryP50Ms: number | null;
  readonly deliveryP99Ms: number | null;
};

export const sampleIntervalMs = 5000;
const capacity = 180;

export class History {
  readonly #clock: Pick<Clock, "wallMs" | "monotonicMs">;
  readonly #samples: (Sample & { readonly monotonicMs: number })[] = [];

  constructor(clock: Pick<Clock, "wallMs" | "monotonicMs">) {
    this.#clock = clock;
  }

  add(sample: Sample): void {
    this.#samples.push({ ...sample, monotonicMs: this.#clock.monotonicMs() });
    if (this.#samples.length > capacity + 1) this.#samples.shift();
  }

  view(): HistoryView {
    const view: HistoryView = { timesMs: [], updatesPerSecond: [], deliveryP50Ms: [], deliveryP99Ms: [] };
    const wallAheadMs = this.#clock.wallMs() - this.#clock.monotonicMs();
    // A rate needs two readings of the counter, so the first sample only starts it.
    for (let index = 1; index < this.#samples.length; index++) {
      const before = this.#samples[index - 1];
      const sample = this.#samples[index];
      if (before === undefined || sample === undefined) continue;
      const seconds = (sample.monotonicMs - before.monotonicMs) / 1000;
      view.timesMs.push(Math.round(wallAheadMs + sample.monotonicMs));
      view.updatesPerSecond.push(seconds > 0 ? (sample.updatesTotal - before.updatesTotal) / seconds : 0);
      view.deliveryP50Ms.push(sample.deliveryP50Ms);
      view.deliveryP99Ms.push(sample.deliveryP99Ms);
    }
    return view;
  }
}
