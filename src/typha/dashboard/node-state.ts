// How a node is doing, in one word: the same word in the list of nodes, in the verdict and in what needs attention.
import type { ConnectionView, NodeState } from "./contract.ts";

/** Nodes under load are a few seconds late now and then; beyond this somebody should look. */
const behindMs = 10_000;

export function nodeState(node: {
  readonly servers: number;
  readonly connections: readonly Pick<ConnectionView, "state" | "lagMs" | "answersAfterMs">[];
}): NodeState {
  if (node.connections.length === 0) return node.servers > 1 ? "not here" : "not connected";
  if (node.connections.some((connection) => ageOfView(connection) > behindMs)) return "behind";
  return node.connections.every(({ state }) => state === "streaming") ? "up to date" : "starting";
}

/** Pings queue behind updates, so a late answer tells of a late reader even where the network has taken everything. */
export function ageOfView(connection: Pick<ConnectionView, "lagMs" | "answersAfterMs">): number {
  return Math.max(connection.lagMs, connection.answersAfterMs ?? 0);
}
