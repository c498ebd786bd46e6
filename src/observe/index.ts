// What an operator sees of the process: log, metrics, health, and the HTTP servers that show them.
export {
  type ComponentHealth,
  createHealth,
  type Health,
  type HealthReport,
  type HealthReporter,
  type HealthSummary,
  healthTable,
} from "./health.ts";
export { healthRoutes, wantsJson } from "./health-routes.ts";
export { type HttpHandler, type HttpOptions, type HttpServer, startHttp } from "./http-server.ts";
export { answerJson, jsonRoute } from "./json-route.ts";
export { type LogOptions, type LogSeverity, type Logs, openLogs } from "./log.ts";
export { goQuote, type LogLevel, type LogRecord } from "./log-line.ts";
export { type MetricName, metricTable } from "./metric-table.ts";
export { createMetrics, type LabelValues, type Metrics } from "./metrics.ts";
export { metricsPage } from "./metrics-page.ts";
export { metricsRoutes } from "./metrics-routes.ts";
export { profileRoutes } from "./profile-routes.ts";
