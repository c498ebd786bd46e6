// The pretend cluster behind `cattail demo`.
export { nodeName } from "./objects.ts";
export { PretendCluster, type PretendClusterOptions } from "./pretend-cluster.ts";
