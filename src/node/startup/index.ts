// Who this node is, which address it has, what a cluster needs before its first node, and what is done around the daemons.
export { addressMonitorPart, lookAtAddresses, type MonitorOptions } from "./addresses/monitor.ts";
export {
  type CompleteOptions,
  type CompleteWorld,
  completeStartup,
  completeStartupPart,
  waitUntilReady,
} from "./complete-startup.ts";
export { initialiseHostPaths } from "./folders.ts";
export { determineNodeName } from "./node-name.ts";
export { runStartup, type StartupWorld } from "./run-startup.ts";
export { nodeSettingsTables, readNodeSettings } from "./settings/read.ts";
export { forgetNode, shutDown } from "./shutdown.ts";
export { StartupError } from "./startup-error.ts";
export { allocateTunnelAddresses, type TunnelWorld } from "./tunnel/allocate.ts";
export { tunnelAddressPart, usesPodCidr } from "./tunnel/tunnel-part.ts";
export { asKubernetes } from "./world.ts";
