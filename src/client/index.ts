// Follow any Typha, ours or the original, from a program of your own. README.md in this folder has the examples.
export { type ConversationOptions, converse } from "./connection.ts";
export type { ClientTls } from "./dial.ts";
export { addressesOf } from "./endpoint-slices.ts";
export { type ClientEnvironment, type EnvironmentOptions, optionsFromEnvironment } from "./environment.ts";
export { follow, followBatches } from "./follow.ts";
export { type FollowOptions, timeouts } from "./follow-options.ts";
export { type KubernetesServiceOptions, kubernetesService } from "./kubernetes-discovery.ts";
export { addressText, type Discovery, parseServerAddress, type ServerAddress, type Servers } from "./server-address.ts";
export { Snapshot } from "./snapshot.ts";
export { type DeleteUpdate, isPlainText, keyOf, readEntry, readValue, type SetUpdate, type Update } from "./update.ts";
export type * from "./values.ts";
