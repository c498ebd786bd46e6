// Who this node is, which address it has, what a cluster needs before its first node, and what is done around the daemons.
export { addressMonitorPart, lookAtAddresses, type MonitorOptions } from "./addresses/monitor.ts";
export { type CompleteOptions, completeStartupPart } from "./complete-startup.ts";
export { nodeStartupPage } from "./settings/page.ts";
export { settingsTable as startupSettingsTable } from "./settings/table.ts";
export * from "./startup.ts";
export { allocateTunnelAddresses, type TunnelWorld } from "./tunnel/allocate.ts";
export { tunnelAddressPart, usesPodCidr } from "./tunnel/tunnel-part.ts";
