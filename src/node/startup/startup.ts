// A second door, for commands that run for a moment: start-up, its end and shutdown, without the parts of the agent and address management.
export { type CompleteWorld, completeStartup, waitUntilReady } from "./complete-startup.ts";
export { initialiseHostPaths } from "./folders.ts";
export { determineNodeName } from "./node-name.ts";
export { runStartup } from "./run-startup.ts";
export { readNodeSettings } from "./settings/read.ts";
export { forgetNode, shutDown } from "./shutdown.ts";
export { isStartupError, type StartupError } from "./startup-error.ts";
export type { StartupWorld } from "./step.ts";
export { asKubernetes } from "./world.ts";
