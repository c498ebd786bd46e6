// How a node is doing, in one word: the same word in the list of nodes, in the verdict, in what needs attention and on the
// page of a key. And who is a node at all: an agent that serves one, not every program that follows a Typha.
import type { ConnectionView, NodeState } from "./contract.ts";

/** Nodes under load are a few seconds late now and then; beyond this somebody should look. */
const behindMs = 10_000;

type Lateness = Pick<ConnectionView, "lagMs" | "answersAfterMs">;

export function nodeState(node: {
  readonly connections: readonly (Lateness & Pick<ConnectionView, "state">)[];
  /** What another server says of it. */
  readonly elsewhere?: NodeState | undefined;
  /** No other server is left that could have it. */
  readonly isEveryServerHeard: boolean;
}): NodeState {
  if (node.connections.length === 0) {
    return node.elsewhere ?? (node.isEveryServerHeard ? "not connected" : "unknown");
  }
  if (node.connections.some(isBehind)) return "behind";
  return node.connections.every(({ state }) => state === "streaming") ? "up to date" : "starting";
}

export function isBehind(connection: Lateness): boolean {
  return ageOfView(connection) > behindMs;
}

/**
 * How old what the client sees is. Pings queue behind updates, so a late answer tells of a late reader even where the
 * network has taken everything that was sent.
 */
export function ageOfView(connection: Lateness): number {
  return Math.max(connection.lagMs, connection.answersAfterMs ?? 0);
}

/** What programs say of themselves that only look; agents of any version say other things. */
const onlookers = [/^cattail (watch|doctor|client)\b/, /^typha command-line client$/];

/** Felix, confd and the others that work for a node; not who runs `cattail watch` there. */
export function isAgent({ info }: { readonly info: string }): boolean {
  return !onlookers.some((onlooker) => onlooker.test(info));
}
