// What an agent says of its node to a Typha that asks, for the dashboard: one format, written on the one side and read with distrust on the other.
export { mostReportBytes, readNodeReport, readPolicyHits, readRouteRows } from "./read.ts";
export type {
  BgpDaemon,
  BgpSession,
  ComponentReport,
  NodeReport,
  PolicyHit,
  RouteRow,
  RouteState,
} from "./report.ts";
export { isRouteBad, reportPaths } from "./report.ts";
