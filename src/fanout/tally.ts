// Adds metrics up between two hand-overs, so that counting costs a Map entry per client and message instead of a
// summary's sketch, and so that a worker thread sends one small message a second. Observations keep two significant
// digits, which is finer than the quantiles they end in, and bounds how many there are.
import type { SyncerType } from "../model/basics.ts";
import type { AddedMetric, FanoutMetrics, ObservedMetric, SetMetric } from "./metrics.ts";

export type TallyItem =
  | { readonly is: "add"; readonly name: AddedMetric; readonly label: string | undefined; readonly value: number }
  | { readonly is: "set"; readonly name: SetMetric; readonly label: string; readonly value: number }
  | {
      readonly is: "observe";
      readonly name: ObservedMetric;
      readonly syncer: SyncerType;
      readonly value: number;
      readonly times: number;
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
  readonly #counts = new Map<number, number>();

  constructor(name: ObservedMetric, syncer: SyncerType) {
    this.#name = name;
    this.#syncer = syncer;
  }

  observe(value: number, times = 1): void {
    const rounded = twoDigits(value);
    this.#counts.set(rounded, (this.#counts.get(rounded) ?? 0) + times);
  }

  drain(): TallyItem[] {
    const items = [...this.#counts].map(
      ([value, times]): TallyItem => ({ is: "observe", name: this.#name, syncer: this.#syncer, value, times }),
    );
    this.#counts.clear();
    return items;
  }
}

export function replay(items: readonly TallyItem[], metrics: FanoutMetrics): void {
  for (const item of items) {
    if (item.is === "add") metrics.add(item.name, item.label, item.value);
    else if (item.is === "set") metrics.set(item.name, item.label, item.value);
    else metrics.observe(item.name, item.syncer, item.value, item.times);
  }
}

function twoDigits(value: number): number {
  if (value <= 0 || !Number.isFinite(value)) return 0;
  const scale = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Math.round(value / scale) * scale;
}
