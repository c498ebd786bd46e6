// The only place that plugs the pipeline together; listens, starts, stops.
export type { TlsSetup } from "./listener.ts";
export { openDatastore } from "./open-datastore.ts";
export { defaultServerLimits, type ServeOptions, type Server, type ServerLimits, startServer } from "./serve.ts";
export { startTypha, type Typha, type TyphaOptions } from "./typha.ts";
export { metricLabels } from "./typha-metrics.ts";
