// docs/reference/node-metrics.md: what the agent and its parts count, for people who make alerts and dashboards.
import { type MetricTable, metricRows } from "../../base/observe/index.ts";
import { agentMetrics } from "../../node/agent/index.ts";
import { birdMetrics } from "../../node/bird/index.ts";
import { policyMetricRows } from "../../node/dataplane/index.ts";
import { ipamAuditMetrics } from "../../node/ipam-audit/index.ts";
import { routeMetrics } from "../../node/routes/index.ts";

/** Of the agent and of all its parts. */
export const nodeMetricTable: MetricTable = {
  ...agentMetrics,
  ...policyMetricRows,
  ...routeMetrics,
  ...birdMetrics,
  ...ipamAuditMetrics,
};

export function nodeMetricsPage(): string {
  const of = (isOurs: boolean) =>
    metricRows(
      Object.fromEntries(Object.entries(nodeMetricTable).filter(([name]) => name.startsWith("cattail_") === isOurs)),
    );
  return `# Metrics of the agent

Set \`FELIX_PROMETHEUSMETRICSENABLED=true\`, or \`prometheusMetricsEnabled\` in a FelixConfiguration, to serve metrics of \`cattail node run\`, \`felix\` or \`bgp\` in Prometheus text format. The port is 9091, or
\`FELIX_PROMETHEUSMETRICSPORT\`. The metrics of \`cattail typha\` have [their own page](metrics.md).

This page is generated from the tables of \`src/node\` by \`npm run docs\`.

## Metrics of Felix

They have the same names and types as in Felix, so your dashboards keep working. Summaries have \`_sum\`, \`_count\` and the quantiles 0.5, 0.9 and 0.99. Which there are depends on the parts that run.
All rules are in one table for both families, so \`felix_nft_chains\`, \`felix_nft_rules\`, \`felix_nft_sets\` and \`felix_nft_maps\` have no labels, nor has \`felix_label_index_num_active_selectors\`.

${of(false)}

## Metrics of Cattail only

\`code\` of \`cattail_ipam_findings\` is one of the findings of [the audit of addresses](ipam.md).

${of(true)}

## The process

There are the usual \`process_*\` metrics, and \`nodejs_*\` metrics instead of the \`go_*\` metrics of Felix. \`FELIX_PROMETHEUSPROCESSMETRICSENABLED\` and \`FELIX_PROMETHEUSGOMETRICSENABLED\` switch them off.
`;
}
