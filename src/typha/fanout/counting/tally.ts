// Adds metrics up between two hand-overs, so that counting costs a Map entry per client and message instead of a
// summary's sketch, and so that a worker thread sends one small message a second. Observations within 2 % of each other
// are handed over as the first of them, which bounds how many there are; with it goes what they add up to.
import type { SyncerType } from "../../../calico/model/basics.ts";
import type { AddedMetric, FanoutMetrics, ObservedMetric, SetMetric } from "./metrics.ts";

const bucketsPerE = 1 / Math.log(1.02);
/** Below that of the smallest number there is. */
const bucketOfZero = -100_000;

export type TallyItem =
  | { readonly is: "add"; readonly name: AddedMetric; readonly label: string | undefined; readonly value: number }
  | { readonly is: "set"; readonly name: SetMetric; readonly label: string; readonly value: number }
  | {
      readonly is: "observe";
      readonly name: ObservedMetric;
      readonly syncer: SyncerType;
      readonly value: number;
      readonly times: number;
      /** Of all that were observed: `value` stands for its neighbours too. */
      readonly sum: number;
    };

export class Tally implements FanoutMetrics {
  readonly #added = new Map<string, { name: AddedMetric; label: string | undefined; value: number }>();
  readonly #set = new Map<string, { name: SetMetric; label: string; value: number }>();
  readonly #observed = new Map<string, Summary>();

  add(name: AddedMetric, label: string | undefined, difference: number): void {
    const key = `${name} ${label ?? ""}`;
    const known = this.#added.get(key);
    if (known === undefined) this.#added.set(key, { name, label, value: difference });
    else known.value += difference;
  }

  set(name: SetMetric, label: string, value: number): void {
    this.#set.set(`${name} ${label}`, { name, label, value });
  }

  observe(name: ObservedMetric, syncer: SyncerType, value: number, times = 1): void {
    this.summary(name, syncer).observe(value, times);
  }

  /** For the hot path: found once, used for every message. */
  summary(name: ObservedMetric, syncer: SyncerType): Summary {
    const key = `${name} ${syncer}`;
    let known = this.#observed.get(key);
    if (known === undefined) {
      known = new Summary(name, syncer);
      this.#observed.set(key, known);
    }
    return known;
  }

  /** What gathered since the last call. */
  drain(): TallyItem[] {
    const items: TallyItem[] = [];
    for (const { name, label, value } of this.#added.values()) items.push({ is: "add", name, label, value });
    for (const { name, label, value } of this.#set.values()) items.push({ is: "set", name, label, value });
    for (const summary of this.#observed.values()) items.push(...summary.drain());
    this.#added.clear();
    this.#set.clear();
    return items;
  }
}

export class Summary {
  readonly #name: ObservedMetric;
  readonly #syncer: SyncerType;
  readonly #alike = new Map<number, { readonly value: number; times: number; sum: number }>();

  constructor(name: ObservedMetric, syncer: SyncerType) {
    this.#name = name;
    this.#syncer = syncer;
  }

  observe(value: number, times = 1): void {
    // A clock that jumps makes durations that are none.
    const real = value > 0 && value < Number.POSITIVE_INFINITY ? value : 0;
    const bucket = real === 0 ? bucketOfZero : Math.round(Math.log(real) * bucketsPerE);
    const known = this.#alike.get(bucket);
    if (known === undefined) this.#alike.set(bucket, { value: real, times, sum: real * times });
    else {
      known.times += times;
      known.sum += real * times;
    }
  }

  drain(): TallyItem[] {
    const items = Array.from(
      this.#alike.values(),
      (alike): TallyItem => ({ is: "observe", name: this.#name, syncer: this.#syncer, ...alike }),
    );
    this.#alike.clear();
    return items;
  }
}

export function replay(items: readonly TallyItem[], metrics: FanoutMetrics): void {
  for (const item of items) {
    if (item.is === "add") metrics.add(item.name, item.label, item.value);
    else if (item.is === "set") metrics.set(item.name, item.label, item.value);
    else metrics.observe(item.name, item.syncer, item.value, item.times, item.sum);
  }
}
