// The only place that plugs the pipeline together; listens, starts, stops.
export { openDatastore } from "./open-datastore.ts";
export { metricLabels } from "./reporting/metrics-refresh.ts";
export { type ServeOptions, type Server, startServer } from "./serve.ts";
export { startTypha } from "./typha.ts";
export type { Typha } from "./typha-parts.ts";
