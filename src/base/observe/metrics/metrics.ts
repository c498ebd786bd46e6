// The metrics registry: counters, gauges and summaries of the table, all series there from the start so that a dashboard
// shows 0 and not "no data". What counts calls add, set and observe with the metric's name; nothing else knows prom-client.
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { Clock } from "../../lib/index.ts";
import { type MetricName, type MetricRow, metricTable } from "./metric-table.ts";
import { addProcessMetrics } from "./process-metrics.ts";
import { type Observed, WindowSummary } from "./window-summary.ts";

/** The values that each label may have. A value that is not in its list is counted as "other". */
export type LabelValues = { readonly [label in NonNullable<MetricRow["label"]>]?: readonly string[] };

export type Metrics = {
  readonly registry: Registry;
  /** `label` is the value of the metric's label; undefined for a metric without one. */
  add(name: MetricName, label: string | undefined, difference: number): void;
  set(name: MetricName, label: string | undefined, value: number): void;
  /** The value, or one hardly different, was observed this many times; `sum` is what they add up to if not all are it. */
  observe(name: MetricName, label: string | undefined, value: number, times?: number, sum?: number): void;
  /** The text that Prometheus scrapes. */
  text(): Promise<string>;
};

export function createMetrics(options: {
  clock: Clock;
  labels: LabelValues;
  includesProcess?: boolean;
  includesRuntime?: boolean;
}): Metrics {
  const registry = new Registry();
  const cells = new Map<string, Cell>();
  for (const [name, row] of Object.entries<MetricRow>(metricTable)) {
    const values = row.label === undefined ? undefined : [...(options.labels[row.label] ?? []), ...otherOf(row)];
    cells.set(name, makeCell(name, row, { values, registry, clock: options.clock }));
  }
  addRuntimeMetrics(registry, options);
  const cell = (name: MetricName): Cell => cells.get(name) ?? neverCell;
  return {
    registry,
    add: (name, label, difference) => cell(name).add(label, difference),
    set: (name, label, value) => cell(name).set(label, value),
    observe: (name, label, value, times = 1, sum = value * times) => cell(name).observe(label, { value, times, sum }),
    text: () => registry.metrics(),
  };
}

type Cell = {
  add(label: string | undefined, difference: number): void;
  set(label: string | undefined, value: number): void;
  observe(label: string | undefined, observed: Observed): void;
};

const nothing = () => undefined;
const neverCell: Cell = { add: nothing, set: nothing, observe: nothing };

// The four syncers are all there will be, and the original's series have no fifth.
function otherOf(row: MetricRow): string[] {
  return row.label === "syncer" ? [] : ["other"];
}

function makeCell(
  name: string,
  row: MetricRow,
  of: { values: readonly string[] | undefined; registry: Registry; clock: Clock },
): Cell {
  const { help, label } = row;
  const registers = [of.registry];
  const known = new Set(of.values);
  // Undefined: a syncer that does not exist, which is counted nowhere.
  const labelsOf = (value: string | undefined): { [label: string]: string } | undefined => {
    if (label === undefined) return {};
    if (value !== undefined && known.has(value)) return { [label]: value };
    return known.has("other") ? { [label]: "other" } : undefined;
  };
  if (row.type === "summary") {
    const summary = new WindowSummary({
      name,
      help,
      label: label ?? "",
      values: of.values ?? [],
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

function addRuntimeMetrics(
  registry: Registry,
  options: { includesProcess?: boolean; includesRuntime?: boolean },
): void {
  const { includesProcess = true, includesRuntime = true } = options;
  if (!includesProcess && !includesRuntime) return;
  collectDefaultMetrics({ register: registry });
  if (includesProcess) addProcessMetrics(registry);
  for (const { name } of registry.getMetricsAsArray()) {
    if (!includesProcess && name.startsWith("process_")) registry.removeSingleMetric(name);
    if (!includesRuntime && name.startsWith("nodejs_")) registry.removeSingleMetric(name);
  }
}
