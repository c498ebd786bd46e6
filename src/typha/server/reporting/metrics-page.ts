// docs/reference/metrics.md: every metric of the table, for people who make alerts and dashboards.
import { metricRows } from "../../../base/observe/index.ts";
import { originalMetrics, ownMetrics } from "./metric-table.ts";

export function metricsPage(): string {
  return `# Metrics

Served as Prometheus text with \`TYPHA_PROMETHEUSMETRICSENABLED=true\`, on port 9093 unless \`TYPHA_PROMETHEUSMETRICSPORT\` says otherwise. Names are public and
stay. A label's values come from fixed lists, so no client can make new series.

Made from the table in \`src/typha/server/reporting\` by \`npm run docs\`; a test keeps it fresh.

## Those of calico/typha

The same names, types and labels, so that dashboards and alerts go on. Summaries have \`_sum\`, \`_count\` and the quantiles 0.5, 0.9 and 0.99.

${metricRows(originalMetrics)}

## Cattail's own

${metricRows(ownMetrics)}

## The process

\`process_*\` as everywhere, and \`nodejs_*\` where the original has \`go_*\`; \`TYPHA_PROMETHEUSPROCESSMETRICSENABLED\` and
\`TYPHA_PROMETHEUSGOMETRICSENABLED\` turn them off.
`;
}
