// Which rules hold for an endpoint, which addresses are in a set, and what becomes of a packet. Pure: the felix data set's
// key/values in, verdicts with their reasons out.
export type { Answer, Cause, PolicyAsked, RuleAt, TierAsked } from "./evaluate.ts";
export {
  type Flow,
  hostEndpointOf,
  judge,
  type Place,
  type Reason,
  type Stage,
  type Verdict,
  type World,
  worldOf,
} from "./flow.ts";
export {
  type EndpointTier,
  type NodeChanges,
  type NodeEndpoint,
  NodePolicy,
  setsOfRule,
} from "./node/node-policy.ts";
export { PolicyData, type Pool, pathOfWorkload } from "./policy-data.ts";
export { isSameDecision, judgePorts, type PortsWithVerdict } from "./ports.ts";
export { protocolNumber, protocolText } from "./protocols.ts";
export { type PortRange, type Rule, readRule, type Side } from "./rule.ts";
export type { SetSpec } from "./set-spec.ts";
export { type NodeSettings, nodeSettings } from "./settings.ts";
export { asIfEnforced } from "./staged.ts";
export type { Direction, Endpoint, HostEndpoint, Policy, PolicyClass, Profile, Tier, Workload } from "./values.ts";
export { describeVoids } from "./void-values.ts";
