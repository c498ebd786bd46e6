// What a node's kernel shall hold, and the difference to what it holds. So far: packet rules.
export { type BuildOptions, type HostInterface, RulesetBuilder } from "./nft/build.ts";
export { type Chain, NftRuleset } from "./nft/ruleset.ts";
