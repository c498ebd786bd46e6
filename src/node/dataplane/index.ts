// What a node's kernel shall hold of packet rules, and the difference to what it holds: the part of the agent that enforces policy.
export { handOver } from "./kernel/hand-over.ts";
export { removeOwnTables } from "./kernel/original.ts";
export { RulesetBuilder } from "./nft/build.ts";
export type { HostInterface } from "./nft/dispatch.ts";
export { type Chain, NftRuleset } from "./nft/ruleset.ts";
export { type PolicyPartOptions, policyPart } from "./policy-part.ts";
export { type BuildOptions, type DataplaneSettings, dataplaneSettings } from "./settings.ts";
export { type Drop, drops } from "./show/drops.ts";
export { policyCounters, policyHits, type RuleCount } from "./show/policy-counters.ts";
export { policyMetricLabels, policyMetricRows } from "./status/policy-metrics.ts";
