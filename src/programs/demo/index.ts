// The pretend cluster behind `cattail demo`.
export { DemoReports } from "./node-reports.ts";
export { nodeName } from "./objects.ts";
export { PretendCluster, type PretendClusterOptions } from "./pretend-cluster.ts";
