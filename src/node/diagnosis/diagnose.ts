// Facts in, findings out. What is wrong in itself comes first; of what fails in the probes only that is told which nothing else explains.
import { checkCluster } from "./checks/cluster.ts";
import { checkHost } from "./checks/host.ts";
import { checkProbes } from "./checks/probes.ts";
import { checkRoutes } from "./checks/routes.ts";
import type { Facts, Probe } from "./facts.ts";
import type { NodeFinding } from "./finding.ts";

export function diagnose(facts: Facts): NodeFinding[] {
  const { cluster, hosts, nowMs } = facts;
  const direct = [
    ...checkCluster(facts),
    ...hosts.flatMap((host) => [...checkHost(host, { cluster, nowMs }), ...checkRoutes(host, cluster)]),
  ];
  return withoutConsequences([...direct, ...checkProbes(facts, direct)]);
}

/** A session with a BIRD that waits is down, or about to be: the wait says it all. */
function withoutConsequences(findings: readonly NodeFinding[]): NodeFinding[] {
  const waiting = findings.filter(({ code }) => code === "BGP_WAITS").map(({ node }) => node);
  return findings.filter(
    ({ code, node, explains }) => code !== "BGP_SESSION_DOWN" || !waiting.some((peer) => explains(between(node, peer))),
  );
}

function between(fromNode: string, node: string): Probe {
  return { kind: "node", from: fromNode, fromNode, to: node, node, address: "", ok: false };
}
