// A second door beside index.ts, for our own commands: the doctor holds conversations step by step, watch prints addresses
// and values as they are, the agent of a node opens a stream anew for a part that comes back. Nothing here is public, so that it may change. layers.json names the door.
export { converse } from "./connection/connection.ts";
export { addressText } from "./discovery/server-address.ts";
export { followKnowing } from "./follow.ts";
export { KnownKeys } from "./keys/known-keys.ts";
export { isPlainText } from "./update.ts";
