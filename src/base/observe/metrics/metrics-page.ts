// docs/reference/metrics.md: every metric of the table, for people who make alerts and dashboards.
import { type MetricRow, originalMetrics, ownMetrics } from "./metric-table.ts";

export function metricsPage(): string {
  return `# Metrics

Served as Prometheus text with \`TYPHA_PROMETHEUSMETRICSENABLED=true\`, on port 9093 unless \`TYPHA_PROMETHEUSMETRICSPORT\` says otherwise. Names are public and
stay. A label's values come from fixed lists, so no client can make new series.

Made from the table in \`src/base/observe\` by \`npm run docs\`; a test keeps it fresh.

## Those of calico/typha

The same names, types and labels, so that dashboards and alerts go on. Summaries have \`_sum\`, \`_count\` and the quantiles 0.5, 0.9 and 0.99.

${rowsOf(originalMetrics)}

## Cattail's own

${rowsOf(ownMetrics)}

## The process

\`process_*\` as everywhere, and \`nodejs_*\` where the original has \`go_*\`; \`TYPHA_PROMETHEUSPROCESSMETRICSENABLED\` and
\`TYPHA_PROMETHEUSGOMETRICSENABLED\` turn them off.
`;
}

function rowsOf(table: { readonly [name: string]: MetricRow }): string {
  const rows = Object.entries(table).map(
    ([name, { type, label, help }]) =>
      `| \`${name}\` | ${type} | ${label === undefined ? "" : `\`${label}\``} | ${help} |`,
  );
  return ["| metric | type | label | what it says |", "|---|---|---|---|", ...rows].join("\n");
}
