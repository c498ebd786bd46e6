// The metrics registry: counters, gauges and summaries of a program's table, all series there from the start so that a dashboard
// shows 0 and not "no data". What counts calls add, set and observe with the metric's name; nothing else knows prom-client.
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { Clock } from "../../lib/index.ts";
import { addProcessMetrics } from "./process-metrics.ts";
import { type Observed, WindowSummary } from "./window-summary.ts";

/** One metric as a program's table has it. */
export type MetricRow = {
  readonly type: "counter" | "gauge" | "summary";
  /** The one label it has, if any. */
  readonly label?: string;
  /** The label's list is complete: a value that is not in it is counted nowhere, and not as "other". */
  readonly isClosed?: true;
  readonly help: string;
  readonly maxAgeMs?: number;
  readonly ageBuckets?: number;
};

/** Every metric of a program, by name. */
export type MetricTable = { readonly [name: string]: MetricRow };

/** The values that each label may have. A value that is not in its list is counted as "other". */
export type LabelValues = { readonly [label: string]: readonly string[] };

export type Metrics<Name extends string = string> = {
  readonly registry: Registry;
  /** `label` is the value of the metric's label; undefined for a metric without one. */
  add(name: Name, label: string | undefined, difference: number): void;
  set(name: Name, label: string | undefined, value: number): void;
  /** The value, or one hardly different, was observed this many times; `sum` is what they add up to if not all are it. */
  observe(name: Name, label: string | undefined, value: number, times?: number, sum?: number): void;
  /** Begins to watch the process and its runtime, for whoever will read the text. */
  watchRuntime(): void;
  /** The text that Prometheus scrapes. */
  text(): Promise<string>;
};

type Switch = boolean | (() => boolean);

const isOn = (given: Switch = true): boolean => (typeof given === "function" ? given() : given);

export function createMetrics<Table extends MetricTable>(options: {
  table: Table;
  labels: LabelValues;
  clock: Clock;
  /** A function is asked each time the text is read. */
  includesProcess?: Switch;
  includesRuntime?: Switch;
}): Metrics<keyof Table & string> {
  const registry = new Registry();
  const cells = new Map<string, Cell>();
  for (const [name, row] of Object.entries(options.table)) {
    const others = row.isClosed === true ? [] : ["other"];
    const values = row.label === undefined ? undefined : [...(options.labels[row.label] ?? []), ...others];
    cells.set(name, makeCell(name, row, { values, registry, clock: options.clock }));
  }
  // Not before somebody wants to read it: the watch over the event loop's delays alone wakes the process a hundred times a second.
  let isWatched = false;
  const watchRuntime = () => {
    if (isWatched || !(isOn(options.includesProcess) || isOn(options.includesRuntime))) return;
    collectDefaultMetrics({ register: registry });
    addProcessMetrics(registry);
    isWatched = true;
  };
  const isShown = (name: string): boolean =>
    name.startsWith("process_")
      ? isOn(options.includesProcess)
      : !name.startsWith("nodejs_") || isOn(options.includesRuntime);
  const cell = (name: string): Cell => cells.get(name) ?? neverCell;
  return {
    registry,
    add: (name, label, difference) => cell(name).add(label, difference),
    set: (name, label, value) => cell(name).set(label, value),
    observe: (name, label, value, times = 1, sum = value * times) => cell(name).observe(label, { value, times, sum }),
    watchRuntime,
    async text() {
      watchRuntime();
      const shown = registry.getMetricsAsArray().filter(({ name }) => isShown(name));
      const texts = await Promise.all(shown.map(({ name }) => registry.getSingleMetricAsString(name)));
      return `${texts.join("\n\n")}\n`;
    },
  };
}

/** The table's rows for a reference page. */
export function metricRows(table: MetricTable): string {
  const rows = Object.entries(table).map(
    ([name, { type, label, help }]) =>
      `| \`${name}\` | ${type} | ${label === undefined ? "" : `\`${label}\``} | ${help} |`,
  );
  return ["| metric | type | label | what it says |", "|---|---|---|---|", ...rows].join("\n");
}

type Cell = {
  add(label: string | undefined, difference: number): void;
  set(label: string | undefined, value: number): void;
  observe(label: string | undefined, observed: Observed): void;
};

const nothing = () => undefined;
const neverCell: Cell = { add: nothing, set: nothing, observe: nothing };

function makeCell(
  name: string,
  row: MetricRow,
  of: { values: readonly string[] | undefined; registry: Registry; clock: Clock },
): Cell {
  const { help, label } = row;
  const registers = [of.registry];
  const known = new Set(of.values);
  // Undefined: not in a list that is complete, so counted nowhere.
  const labelsOf = (value: string | undefined): { [label: string]: string } | undefined => {
    if (label === undefined) return {};
    if (value !== undefined && known.has(value)) return { [label]: value };
    return known.has("other") ? { [label]: "other" } : undefined;
  };
  if (row.type === "summary") {
    const summary = new WindowSummary({
      name,
      help,
      label,
      values: of.values ?? [""],
      clock: of.clock,
      ...ages(row),
    });
    of.registry.registerMetric(summary.asMetric());
    return { ...neverCell, observe: (value, observed) => summary.observe(value ?? "", observed) };
  }
  const labelNames = label === undefined ? [] : [label];
  if (row.type === "counter") {
    const counter = new Counter({ name, help, labelNames, registers });
    for (const value of of.values ?? []) counter.inc({ [label ?? ""]: value }, 0);
    return {
      ...neverCell,
      add: (value, difference) => void withLabels(labelsOf(value), (at) => counter.inc(at, Math.max(0, difference))),
    };
  }
  const gauge = new Gauge({ name, help, labelNames, registers });
  for (const value of of.values ?? []) gauge.set({ [label ?? ""]: value }, 0);
  return {
    ...neverCell,
    add: (value, difference) => void withLabels(labelsOf(value), (at) => gauge.inc(at, difference)),
    set: (value, to) => void withLabels(labelsOf(value), (at) => gauge.set(at, to)),
  };
}

function withLabels(
  labels: { [label: string]: string } | undefined,
  act: (labels: { [label: string]: string }) => void,
): void {
  if (labels !== undefined) act(labels);
}

function ages({ maxAgeMs = 600_000, ageBuckets = 5 }: MetricRow): { maxAgeMs: number; ageBuckets: number } {
  return { maxAgeMs, ageBuckets };
}
