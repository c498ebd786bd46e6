// Who this node is, which address it has, what a cluster needs before its first node, and what is done around the daemons.
export { type CompleteWorld, completeStartup, waitUntilReady } from "./complete-startup.ts";
export { asKubernetes, runStartup, type StartupWorld } from "./run-startup.ts";
export { readNodeSettings } from "./settings/read.ts";
export { forgetNode, shutDown } from "./shutdown.ts";
export { StartupError } from "./startup-error.ts";
