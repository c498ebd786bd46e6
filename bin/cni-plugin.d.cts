// What tools/binary/start.ts takes from the thin start.
export type Started = { readonly stdin?: string; readonly files?: readonly string[] };
/** Ends the process if an agent has answered. `files`: those that are this program. */
export function startPlugin(plugin: "calico" | "calico-ipam", files: readonly string[]): Promise<Started>;
