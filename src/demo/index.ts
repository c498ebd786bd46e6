// The pretend cluster behind `cattail demo`.
export { PretendCluster, type PretendClusterOptions } from "./pretend-cluster.ts";
