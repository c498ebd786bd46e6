// felix, bgp, tunnel-ip-allocation and node-status: what feeds each, merged into one ordered stream.
export { createSyncerCore, type SyncerCore } from "./core.ts";
export type { Feed } from "./feeds.ts";
export { feedsOf } from "./feeds.ts";
export { readRuleOrigins } from "./rule-origins.ts";
export { runSyncers, type Syncers } from "./run-syncers.ts";
