// The nodes whose agents are connected here, and how they are: what other servers are told that ask.
import { isAgent, nodeState } from "../../dashboard/index.ts";
import type { ClientReport } from "../../fanout/index.ts";
import type { Introspection } from "../introspection/introspection.ts";
import type { OwnNode } from "./neighbour-protocol.ts";

export function ownNodes(introspection: Introspection, reports: readonly ClientReport[]): OwnNode[] {
  return introspection.nodesOf(reports.filter(isAgent)).flatMap(({ node, clients }): OwnNode[] => {
    if (clients.length === 0) return [];
    const connections = clients.map(({ lagMs, pingMs, phase }) => ({
      ...{ lagMs, state: phase },
      answersAfterMs: pingMs ?? null,
    }));
    return [[node, nodeState({ connections, isEveryServerHeard: true })]];
  });
}
