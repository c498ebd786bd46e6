// The CNI plugins: what a runtime asks, what is behind the answers, and the part of the agent that answers for the program that the runtime
// starts. docs/reference/cni.md has what both look like from outside.
//
//   runtime ─▶ bin/cni-plugin.cjs ─▶ agent's socket ─▶ resident/ ─┐
//                      └──────── no agent ─▶ programs/cni ────────┴─▶ ipam/ and plugin/ ─▶ backing ─▶ datastore, kernel
export { type BackingEdge, freshBacking } from "./backing.ts";
export { createIpamPlugin } from "./ipam/ipam-plugin.ts";
export type { PluginOptions } from "./options.ts";
export { createCalicoPlugin } from "./plugin/calico-plugin.ts";
export { testConnection } from "./plugin/test-connection.ts";
export type { Variables } from "./protocol/call.ts";
export { cniErrorJson, toCniError } from "./protocol/cni-error.ts";
export { type Answered, type Plugin, runPlugin } from "./protocol/run-plugin.ts";
export { type CniPartOptions, cniPart, usualCniSocket } from "./resident/cni-part.ts";
