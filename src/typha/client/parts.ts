// A second door beside index.ts, for our own commands: the doctor holds conversations step by step, watch prints addresses
// and values as they are. Nothing here is public, so that it may change. layers.json names the door.
export { converse } from "./connection/connection.ts";
export { addressText } from "./discovery/server-address.ts";
export { isPlainText } from "./update.ts";
