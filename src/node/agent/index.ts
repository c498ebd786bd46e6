// The agent of a node: gives parts their world, and keeps them running.
export { type AgentOptions, runAgent } from "./agent.ts";
export { agentMetrics } from "./metric-table.ts";
export type { ReportSources } from "./report.ts";
