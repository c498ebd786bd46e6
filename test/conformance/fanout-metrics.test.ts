// Typha's metrics fit the type by which the fan-out counts, and have every name it uses.
import { ok } from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/lib/index.ts";
import { addedMetrics, observedMetrics, setMetrics } from "../../src/typha/fanout/counting/metrics.ts";
import type { FanoutMetrics } from "../../src/typha/fanout/index.ts";
import { createTyphaMetrics, metricTable } from "../../src/typha/server/index.ts";
import { type MetricName, metricLabels } from "../../src/typha/server/reporting/typha-metrics.ts";
import { settingsWith } from "../../src/typha/settings/index.ts";

const labels = metricLabels({ workers: 2 });

test("everything the fan-out counts is shown", async () => {
  const metrics = createTyphaMetrics(
    settingsWith({ workers: 2, prometheusProcessMetricsEnabled: false, prometheusGoMetricsEnabled: false }),
    { clock: systemClock },
  );
  const fanout: FanoutMetrics = metrics;
  for (const name of addedMetrics) fanout.add(name, labelOf(name), 7);
  for (const name of setMetrics) fanout.set(name, labelOf(name) ?? "", 7);
  for (const name of observedMetrics) fanout.observe(name, "felix", 7, 2);
  const text = await metrics.text();
  for (const name of [...addedMetrics, ...setMetrics]) {
    const label = labelOf(name);
    ok(new RegExp(`^${name}(\\{[a-z]+="${label}"\\})? 7$`, "m").test(text), name);
  }
  for (const name of observedMetrics) ok(text.includes(`${name}_sum{syncer="felix"} 14\n`), name);
});

/** One of the values that the server announces for the metric's label. */
function labelOf(name: MetricName): string | undefined {
  const row = metricTable[name];
  return "label" in row ? labels[row.label]?.[0] : undefined;
}
