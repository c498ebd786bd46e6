// Facts in, findings out. What is wrong in itself comes first; of what fails in the probes only that is told which nothing else explains.
import { checkCluster } from "./checks/cluster.ts";
import { checkHost } from "./checks/host.ts";
import { checkProbes } from "./checks/probes.ts";
import { checkRoutes } from "./checks/routes.ts";
import type { Facts } from "./facts.ts";
import type { NodeFinding } from "./finding.ts";

export function diagnose(facts: Facts): NodeFinding[] {
  const { cluster, hosts, nowMs } = facts;
  const direct = [
    ...checkCluster(facts),
    ...hosts.flatMap((host) => [...checkHost(host, { cluster, nowMs }), ...checkRoutes(host, cluster)]),
  ];
  return [...direct, ...checkProbes(facts, direct)];
}
