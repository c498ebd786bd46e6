// Follow any Typha, ours or the original, from a program of your own.
export type { ClientTls } from "./connection.ts";
export { addressesOf } from "./endpoint-slices.ts";
export { type FollowOptions, follow, followBatches } from "./follow.ts";
export { addressText, type Discovery, parseServerAddress, type ServerAddress, type Servers } from "./server-address.ts";
export { Snapshot } from "./snapshot.ts";
export { type DeleteUpdate, keyOf, readValue, type SetUpdate, type Update } from "./update.ts";
