// What an operator sees of the process: log, metrics, health, and the HTTP servers that show them.
export { createHealth, type Health, type HealthReporter } from "./health.ts";
export { healthRoutes } from "./health-routes.ts";
export { type HttpHandler, type HttpServer, startHttp } from "./http-server.ts";
export { answerJson, jsonRoute } from "./json-route.ts";
export { type LogSeverity, type Logs, openLogs } from "./log.ts";
export { goQuote, localTime } from "./log-line.ts";
export { type MetricName, metricTable } from "./metric-table.ts";
export { createMetrics, type LabelValues, type Metrics } from "./metrics.ts";
export { metricsPage } from "./metrics-page.ts";
export { metricsRoutes } from "./metrics-routes.ts";
export { profileRoutes } from "./profile-routes.ts";
