// The routes of a node: where every pod of the cluster is, from here, and the kernel kept in step with it. A part of the agent, what takes its
// traces away when the node leaves the cluster, and the calculation for whoever wants to know what should be.
export { RouteCalculation } from "./calculation/calculation.ts";
export type { Resolved, RouteWay } from "./calculation/desired.ts";
export type { Ways } from "./calculation/resolve.ts";
export { routeMetrics } from "./metrics.ts";
export { type RoutesOptions, routesPart } from "./part.ts";
export { removeOwnRoutes } from "./remove-own.ts";
export { RouteReporter } from "./report.ts";
export { type Bgp, type RouteSettings, readRouteSettings, whoProgramsPlain } from "./settings.ts";
export type { BirdRoute, BirdRoutes } from "./tracking/bgp-hops.ts";
