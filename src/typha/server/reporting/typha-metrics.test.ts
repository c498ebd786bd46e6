import { deepEqual, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { systemClock } from "../../../base/lib/index.ts";
import { settingsWith } from "../../settings/index.ts";
import { metricTable } from "./metric-table.ts";
import { createTyphaMetrics, metricLabels } from "./typha-metrics.ts";

function setUp(given: Parameters<typeof settingsWith>[0] = {}) {
  let nowMs = 0;
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const metrics = createTyphaMetrics(settingsWith(given), { clock });
  return { metrics, pass: (ms: number) => (nowMs += ms) };
}

const bare = { prometheusProcessMetricsEnabled: false, prometheusGoMetricsEnabled: false };

const seriesOf = (text: string, pattern: RegExp) =>
  text
    .split("\n")
    .filter((line) => pattern.test(line))
    .map((line) => line.replace(/ [^ ]+$/, ""));

test("the series are the original's, all there from the start", async () => {
  const text = await setUp().metrics.text();
  const golden = readFileSync("test/vectors/ops/typha-metric-series.txt", "utf8").trim().split("\n");
  deepEqual(seriesOf(text, /^typha_/).sort(), golden.sort());
});

test("the types are the original's", async () => {
  const text = await setUp().metrics.text();
  const golden = readFileSync("test/vectors/ops/metric-types.txt", "utf8").trim().split("\n");
  const typesOf = (lines: string[], of: RegExp) => lines.filter((line) => of.test(line)).sort();
  deepEqual(typesOf(text.split("\n"), /^# TYPE typha_/), typesOf(golden, /^# TYPE typha_/));
  const ours = new Set(text.split("\n"));
  for (const line of typesOf(golden, /^# TYPE process_/)) ok(ours.has(line), line);
});

test("the client latency forgets after a minute, the others after ten", async () => {
  const { metrics, pass } = setUp(bare);
  metrics.observe("typha_client_latency_secs", "bgp", 1);
  metrics.observe("typha_ping_latency", "bgp", 1);
  const isEmpty = async (name: string) =>
    new RegExp(`^${name}\\{syncer="bgp",quantile="0.5"\\} Nan`, "m").test(await metrics.text());
  pass(59_000);
  deepEqual([await isEmpty("typha_client_latency_secs"), await isEmpty("typha_ping_latency")], [false, false]);
  pass(2_000);
  deepEqual([await isEmpty("typha_client_latency_secs"), await isEmpty("typha_ping_latency")], [true, false]);
});

test("the settings leave out the metrics of the process and of the runtime", async () => {
  const text = await setUp(bare).metrics.text();
  deepEqual(seriesOf(text, /^(process|nodejs)_/), []);
});

test("every label has a fixed list", () => {
  const labels = metricLabels(settingsWith());
  for (const [name, row] of Object.entries(metricTable)) if ("label" in row) ok(row.label in labels, name);
});
