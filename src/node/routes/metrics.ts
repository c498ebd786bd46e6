// What the part counts, for the agent's table of metrics.
import type { MetricTable } from "../../base/observe/index.ts";

export const routeMetrics = {
  felix_route_table_num_routes: { type: "gauge", help: "Routes of this node that the agent looks after." },
  felix_route_table_num_ifaces: { type: "gauge", help: "Interfaces that these routes go by." },
  felix_route_table_resync_seconds: { type: "summary", help: "Time that listing all routes of the kernel took." },
  cattail_routes_written: { type: "gauge", help: "Routes written since the part started." },
  cattail_routes_deleted: { type: "gauge", help: "Routes deleted since the part started." },
  cattail_routes_refused: { type: "gauge", help: "Routes that the kernel refused since the part started." },
} as const satisfies MetricTable;
