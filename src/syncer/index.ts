// felix, bgp, tunnel-ip-allocation and node-status: what feeds each, merged into one ordered stream.
export { type CoreOptions, createSyncerCore, type SyncerCore } from "./core.ts";
export type { ConversionOptions, FedSyncer, Feed } from "./feed.ts";
export { feedsOf } from "./feeds.ts";
export { type InitialiseOptions, initialiseDatastore } from "./initialise.ts";
export type { ProblemCount } from "./problems.ts";
export { defaultMaxQueuedUpdates, runSyncers, type Syncers, type SyncersOptions } from "./run-syncers.ts";
export type { KindState, SyncerStats } from "./stats.ts";
