// docs/reference/metrics.md: every metric of the table, for people who make alerts and dashboards.
import { metricRows } from "../../../base/observe/index.ts";
import { originalMetrics, ownMetrics } from "./metric-table.ts";

export function metricsPage(): string {
  return `# Metrics

Set \`TYPHA_PROMETHEUSMETRICSENABLED=true\` to serve metrics in Prometheus text format. The port is 9093, or \`TYPHA_PROMETHEUSMETRICSPORT\`. Metric names do not change between versions. The values of labels
come from fixed lists, so a client cannot create new series.

This page is generated from the table in \`src/typha/server/reporting\` by \`npm run docs\`.

## Metrics of calico/typha

They have the same names, types and labels as in calico/typha, so your dashboards and alerts keep working. Summaries have \`_sum\`, \`_count\` and the quantiles 0.5, 0.9 and 0.99.

${metricRows(originalMetrics)}

## Metrics of Cattail only

${metricRows(ownMetrics)}

## The process

There are the usual \`process_*\` metrics, and \`nodejs_*\` metrics instead of the \`go_*\` metrics of calico/typha. \`TYPHA_PROMETHEUSPROCESSMETRICSENABLED\` and
\`TYPHA_PROMETHEUSGOMETRICSENABLED\` switch them off.
`;
}
