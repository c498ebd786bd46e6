// The dashboard: a page and its JSON, over whatever server implements DashboardSource.
export type * from "./contract.ts";
export { type DashboardOptions, startDashboard } from "./dashboard.ts";
export type { FelixKeys, KeyValue } from "./endpoint-policies.ts";
export { ageOfView, isAgent, isBehind, nodeState } from "./node-state.ts";
export type { Target } from "./nodes/sweep.ts";
export { type Pace, Paced } from "./paced.ts";
export type { DashboardSource, KeyQuery, NodeReports } from "./source.ts";
