// The only place that plugs the pipeline together; listens, starts, stops.
export { metricTable } from "./reporting/metric-table.ts";
export { metricsPage } from "./reporting/metrics-page.ts";
export { createTyphaMetrics } from "./reporting/typha-metrics.ts";
export { type ServeOptions, type Server, startServer } from "./serve.ts";
export { startTypha } from "./typha.ts";
export type { Typha, TyphaOptions } from "./typha-parts.ts";
