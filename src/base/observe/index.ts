// What an operator sees of the process: log, metrics, health, and the HTTP servers that show them.
export { createHealth, type Health, type HealthReporter } from "./http/health.ts";
export { healthRoutes } from "./http/health-routes.ts";
export { type HttpHandler, type HttpServer, startHttp } from "./http/http-server.ts";
export { answerJson, jsonRoute } from "./http/json-route.ts";
export { profileRoutes } from "./http/profile-routes.ts";
export { type LogDestination, type LogNames, type LogSeverity, type Logs, openLogs } from "./log/log.ts";
export { goQuote, localTime } from "./log/log-line.ts";
export { createMetrics, type LabelValues, type Metrics, type MetricTable, metricRows } from "./metrics/metrics.ts";
export { metricsRoutes } from "./metrics/metrics-routes.ts";
