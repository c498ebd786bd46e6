// A second door, for probes: the health command and nothing else of this room.
export { askHealth } from "./health/agent.ts";
export {
  type Checked,
  type CheckName,
  checkHealth,
  checkNames,
  hasBirdOfIpv6,
  healthSentence,
  nothingAsked,
} from "./health/check.ts";
export { goDurationMs } from "./settings/duration.ts";
